# The rooms of src/, highest first, and for each the rooms that it may lean on (DESIGN.md). The Makefile links by it, and
# tests/support/arrows.py judges each #include by it.
ARROWS_main   := match live batch cli plan cache engine base
ARROWS_match  := batch job cli plan output cache media sound engine base
ARROWS_cli    := live batch plan output cache media engine kmeans base
ARROWS_live   := plan output cache media engine base
ARROWS_batch  := job plan output cache media sound engine base
ARROWS_job    := plan output cache media sound shots engine base
ARROWS_plan   := output cache media shots engine kmeans base
ARROWS_output := media sound shots engine kmeans base
ARROWS_cache  := media sound shots engine base
ARROWS_media  := sound shots engine base
ARROWS_engine := kmeans base
ARROWS_kmeans := base
ARROWS_sound  := base
ARROWS_shots  := base
ARROWS_base   :=
ARROWS_cuda   := engine kmeans sound base
ROOMS         := match cli live batch job plan output cache media engine kmeans sound shots base
