/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The maps of a datapath; include/dp_maps.h says what is in them and who writes it.  Sizes that depend on the host or on
 * the user's limits are set between open and load.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "dp_maps.h"

/* The namespace whose ports are served; 0 = not checked, since only a TCX link follows its device elsewhere. */
const volatile __u64 netns_cookie = 0;

/* Drawn at load, so that nobody outside can make frames that push each other out of the cache. */
const volatile __u64 cache_seed = 0;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct datapath);
} datapath SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, PORTS_MAX);
	__type(key, __u32);
	__type(value, struct port);
} ports SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, PORTS_MAX);
	__type(key, __u32);
	__type(value, __u32);
} if_port SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, PORTS_MAX);
	__type(key, __u32);
	__type(value, struct port_info);
} port_info SEC(".maps");

/* One value that holds the whole array: a reader has one pointer and can never see half of two orders. */
struct mask_array_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct mask_array);
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH_OF_MAPS);
	__uint(max_entries, PACKET_CLASSES_END);
	__type(key, __u32);
	__array(values, struct mask_array_map);
} masks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, MASKS_MAX);
	__type(key, __u32);
	__type(value, struct mask_info);
} mask_info SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, MASKS_MAX);
	__type(key, __u32);
	__type(value, struct mask_hits);
} mask_hits SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 2 * FILTER_WORDS_MIN);
	__type(key, __u32);
	__type(value, __u64);
} filter SEC(".maps");

/* Index: CPU * CACHE_MAX + hash.  A plain array, since its lookup is inlined on all kernels. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, CACHE_MAX);
	__type(key, __u32);
	__type(value, struct cache_entry);
} mask_cache SEC(".maps");

/* Not preallocated, so that an empty datapath is small. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, FLOWS_DEFAULT);
	__type(key, __u64);
	__type(value, __u32);
} flows SEC(".maps");

struct flow_page {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, PAGE_SLOTS);
	__type(key, __u32);
	__type(value, struct flow);
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, FLOWS_DEFAULT / PAGE_SLOTS + 1);
	__type(key, __u32);
	__array(values, struct flow_page);
} flow_pages SEC(".maps");

struct action_page {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, PAGE_SLOTS);
	__type(key, __u32);
	__type(value, struct flow_action);
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, ACTION_PAGES_MAX);
	__type(key, __u32);
	__array(values, struct action_page);
} action_pages SEC(".maps");

/* Index within a page: CPU * PAGE_SLOTS + slot, so that each CPU writes lines of its own. */
struct stats_page {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, PAGE_SLOTS);
	__type(key, __u32);
	__type(value, struct flow_stats);
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, FLOWS_DEFAULT / PAGE_SLOTS + 1);
	__type(key, __u32);
	__array(values, struct stats_page);
} stats_pages SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, FLOWS_DEFAULT / PAGE_SLOTS + 1);
	__type(key, __u32);
	__type(value, struct slot_page);
} flow_slots SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, ACTION_PAGES_MAX);
	__type(key, __u32);
	__type(value, struct slot_page);
} action_slots SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct cpu_state);
} cpu_state SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 16384);
	__type(key, struct drop_key);
	__type(value, __u64);
} drops SEC(".maps");

/*
 * clang 14 writes a struct that only an inner map names into BTF as a forward declaration, and the kernel then refuses
 * the map.  A by-value member of a struct that a global points to makes it whole.
 */
struct inner_map_types {
	struct mask_array mask_array;
	struct flow flow;
	struct flow_action flow_action;
	struct flow_stats flow_stats;
};
struct inner_map_types *inner_map_types_unused SEC(".data");
