/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A mask as text: the names of the fields that count, with their masks where only some bits do.
 */
#pragma once

#include <stdio.h>

#include "flow_key.h"

/*
 * in_port,eth_type,ipv4(src/255.255.255.0,proto),tcp(dst).  sample: a key of the packets that the mask is put on; its
 * type and protocol say what stands where the key's layers share room.
 */
void mask_print(FILE *out, const struct flow_key *mask, const struct flow_key *sample);
