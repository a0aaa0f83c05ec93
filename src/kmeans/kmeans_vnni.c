/* The passes of kmeans_vector.h for AVX-512 with VNNI; the Makefile gives this file the flags. */
#include "assign_template.h"
#include "points_template.h"
#include "seed_template.h"

const struct kmeans_vector kmeans_vnni = {make_runs,        distinct_points, box_points,
                                          begin_candidates, add_candidates,  try_candidates,
                                          count_candidates, assign_again};
