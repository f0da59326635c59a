// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs a command and kills it at the n-th stop of its system calls: each has two, before and after.
 *
 *	kill_at_call N FILE COMMAND [ARG...]
 *
 * Ends as the command does, by SIGKILL if it was killed.  If it ended before, FILE gets the number of its stops, so
 * that the caller learns what numbers there are.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

static int complain(const char *what)
{
	fprintf(stderr, "kill_at_call: %s: %s\n", what, strerror(errno));
	return EXIT_FAILURE;
}

static int become(char **argv)
{
	if (ptrace(PTRACE_TRACEME, 0, 0, 0))
		return complain("ptrace");
	execv(argv[0], argv);
	return complain(argv[0]);
}

/* The number of stops that were seen when the command ended. */
static unsigned long follow(pid_t pid, unsigned long last, int *status)
{
	unsigned long stops = 0;
	int signal = 0;

	/* The first stop is that of exec. */
	ptrace(PTRACE_SETOPTIONS, pid, 0, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
	do {
		/* Fails when it has just been killed; its end is waited for nevertheless. */
		ptrace(PTRACE_SYSCALL, pid, 0, signal);
		if (waitpid(pid, status, 0) != pid)
			break;
		signal = WIFSTOPPED(*status) ? WSTOPSIG(*status) : 0;
		if (signal != (SIGTRAP | 0x80))
			continue;
		signal = 0;
		if (++stops == last)
			kill(pid, SIGKILL);
	} while (WIFSTOPPED(*status));
	return stops;
}

static int report(const char *path, unsigned long stops)
{
	FILE *file = fopen(path, "w");

	if (!file)
		return complain(path);
	fprintf(file, "%lu\n", stops);
	return fclose(file) ? complain(path) : 0;
}

int main(int argc, char **argv)
{
	unsigned long stops;
	int status;
	pid_t pid;

	if (argc < 4) {
		fprintf(stderr, "usage: kill_at_call N FILE COMMAND [ARG...]\n");
		return EXIT_FAILURE;
	}
	pid = fork();
	if (!pid)
		return become(argv + 3);
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return complain("fork");
	if (!WIFSTOPPED(status))
		return EXIT_FAILURE;
	stops = follow(pid, strtoul(argv[1], NULL, 10), &status);
	if (WIFSIGNALED(status)) {
		kill(getpid(), WTERMSIG(status));
		pause();
	}
	return report(argv[2], stops) ? EXIT_FAILURE : WEXITSTATUS(status);
}
