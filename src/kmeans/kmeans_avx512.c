/*
 * The functions of kmeans_vector.h for AVX-512. The Makefile sets the compiler flags for this file.
 */
#include "assign_template.h"
#include "points_template.h"
#include "seed_template.h"

const struct kmeans_vector kmeans_avx512 = {make_runs,        distinct_points, box_points,
                                            begin_candidates, add_candidates,  try_candidates,
                                            count_candidates, assign_again};
