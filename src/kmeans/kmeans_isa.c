/* The functions of kmeans_vector.h for AVX2, AVX-512, and AVX-512 with VNNI (isa.h). */
#include "assign_template.h"
#include "points_template.h"
#include "seed_template.h"

const struct kmeans_vector ISA_NAME(kmeans) = {.runs = make_runs,
                                               .distinct = distinct_points,
                                               .box = box_points,
                                               .begin = begin_candidates,
                                               .add = add_candidates,
                                               .try = try_candidates,
                                               .count = count_candidates,
                                               .step = assign_again};
