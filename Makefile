# barcode - one picture of a film's colours.
#
#   make demo    installs what is missing, builds, makes the sample film, renders it to out/
#   make test    installs what is missing, builds, runs the quick tests; make check-all runs all
#                tests that need no GPU
#   make help    every target
#
# Variables: CUDA=0 (build without nvcc), DEBUG=1, V=1 (whole commands), SAN=address|thread, CC,
# CFLAGS, PREFIX, DESTDIR; BARCODE_FILMS=DIR (check-all, judge, bench, test-gpu and gpu-pack take
# the films of that folder too; without it they need nothing but what they make).

MAKEFLAGS += --no-builtin-rules
.DEFAULT_GOAL := all
SHELL := /bin/bash

CC       = gcc
PREFIX  ?= /usr/local
PYTHON  ?= /usr/bin/python3
export PYTHONDONTWRITEBYTECODE = 1 # else tests leave files among their sources

VERSION  = $(shell sed -n 's/^.define BARCODE_VERSION "\(.*\)"/\1/p' src/base/version.h)
PACKAGES = libavformat libavcodec libswscale libavutil libpng libjpeg \
    libwebp jansson libxxhash libzstd libseccomp
# What letters are drawn with (POSTERS=0: without). Debian has no static pango, so a portable
# program is built without: src/output/poster/canvas_none.c. With POSTERS=1 it looks for these
# libraries in ../lib, beside its own folder.
POSTERS ?= $(if $(PORTABLE),0,1)
CANVAS   = $(if $(filter 1,$(POSTERS)),cairo pangocairo fontconfig)
WARN     = -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
    -Wformat=2 -Werror=format-security -Wvla
CFLAGS  ?= -O3 -g
BASE     = -std=c11 -D_GNU_SOURCE -Iinclude -Isrc -MMD -MP -pthread -ffp-contract=off $(WARN)

ifeq ($(DEBUG),1)
  override CFLAGS := -O0 -g3
endif
ifeq ($(SAN),address)
  BASE += -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
  override CFLAGS := -O1 -g1
  LINK += -fsanitize=address,undefined
endif
ifeq ($(SAN),thread)
  BASE += -fsanitize=thread
  override CFLAGS := -O1 -g1
  LINK += -fsanitize=thread
endif
ifeq ($(SAN),fuzzer)
  CC := clang
  BASE += -fsanitize=fuzzer-no-link,address,undefined -fno-omit-frame-pointer
  override CFLAGS := -O1 -g1
  LINK += -fsanitize=address,undefined
endif
ifneq ($(SAN),)
  BASE += -DSANITIZED
endif
ifeq ($(WERROR),1)
  BASE += -Werror
endif

# $(call taken,COMPILER,FLAGS): those FLAGS that the compiler accepts; a comma within a flag
# stands for a space. The answers are kept in out/build.
taken = $(shell kept=out/build/taken-$$({ echo '$(1) $(2)'; $(1) -v; } \
    2>&1 | cksum | cut -d' ' -f1); \
    [ -s $$kept ] || { mkdir -p out/build; taken=; for flag in $(2); do \
    $(1) -Werror $$taken $${flag//,/ } -S -x c /dev/null -o /dev/null 2> /dev/null \
    && taken+=" $${flag//,/ }"; done; \
    echo $$taken > $$kept.$$$$; mv $$kept.$$$$ $$kept; }; cat $$kept)

# __x86_64__ for such a processor, __OPTIMIZE__ with any -O but -O0.
PREDEFINED := $(shell $(CC) $(CFLAGS) -dM -E -x c /dev/null 2>/dev/null \
    | grep -owE '__x86_64__|__OPTIMIZE__')

# Without optimization glibc has no FORTIFY, and the sanitizers do not know its functions.
HARDEN    = -fstack-protector-strong -fstack-clash-protection -fcf-protection \
    -mbranch-protection=standard
ifeq ($(SAN)$(filter __OPTIMIZE__,$(PREDEFINED)),__OPTIMIZE__)
  FORTIFY = -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3
endif
# In a debug build valgrind shall see what has no value. clang 14 and 15 take the flag behind
# -Xclang only.
ifneq ($(DEBUG),1)
  ZEROED := $(call taken,$(CC),-ftrivial-auto-var-init=zero -Xclang,-ftrivial-auto-var-init=zero)
endif
HARDENED := -fPIE $(call taken,$(CC),$(HARDEN) $(FORTIFY))
LINK     += -pie -Wl,-z,relro,-z,now,-z,noexecstack

# gcc links libstdc++ as a shared library, even with -static-libstdc++: that option is for g++.
STDCXX = $(if $(PORTABLE),-l:libstdc++.a,-lstdc++)

# With nvcc the CUDA engine is built too (CUDA=0: without). The runtime is linked in, the driver
# loaded when there is one.
NVCC  ?= $(firstword $(wildcard /usr/local/cuda/bin/nvcc) $(shell command -v nvcc 2>/dev/null))
CUDA  ?= $(if $(NVCC),1,0)
ifneq ($(SAN),)
  CUDA := 0
endif
ifeq ($(CUDA),1)
  CUDA_HOME  := $(patsubst %/bin/nvcc,%,$(realpath $(NVCC)))
  # Machine code for these; every other GPU from 7.5 on compiles the intermediate code once, and the
  # driver keeps it.
  CUDA_ARCH  ?= $(if $(PORTABLE),80 86 89 90,90)
  HARDEN_CXX := $(addprefix -Xcompiler=,-fPIE $(call taken,$(CXX),$(HARDEN)))
  # Line numbers are for profilers. Temporary files beside the object have no random names, which
  # nvcc writes into it.
  NVCC_FLAGS  = -std=c++17 -O3 $(if $(PORTABLE),,-lineinfo) --objdir-as-tempdir -MMD -MP \
      -Iinclude -Icuda -Xcompiler -Wall,-Wextra,-ffp-contract=off $(HARDEN_CXX) \
      $(foreach a,$(CUDA_ARCH),-gencode arch=compute_$(a),code=sm_$(a)) \
      -gencode arch=compute_75,code=compute_75
  BASE       += -DBARCODE_CUDA
  CUDA_OBJ    = $(patsubst cuda/%.cu,$(NVCC_BUILD)/cuda/%.o,$(sort $(wildcard cuda/*.cu)))
  CUDA_LIBS   = -L$(CUDA_HOME)/lib64 -lcudart_static -lrt -ldl $(STDCXX)
endif

# Lazily, so that `make deps` works on a machine that has none of the packages yet.
PKG_CFLAGS = $(shell pkg-config --cflags $(PACKAGES) $(CANVAS))
PKG_LIBS   = $(shell pkg-config --libs $(PACKAGES) $(CANVAS)) -lm $(CUDA_LIBS)

# The server of --serve, where libmicrohttpd is (SERVER=0: without). Debian has no static one
# without GnuTLS.
SERVER ?= $(if $(PORTABLE),0,$(shell pkg-config --exists libmicrohttpd && echo 1 || echo 0))
ifeq ($(SERVER),1)
  PACKAGES += libmicrohttpd
endif

# PORTABLE=1 (make portable): FFmpeg with NVDEC, dav1d and every other library but glibc inside
# the program.
FFMPEG     = out/ffmpeg
ifeq ($(PORTABLE),1)
  PKG        = PKG_CONFIG_PATH=$(FFMPEG)/lib/pkgconfig pkg-config --static
  LIBAV      = libavformat libavcodec libswscale libavutil
  PKG_CFLAGS = $(shell $(PKG) --cflags $(PACKAGES) $(CANVAS))
  PKG_LIBS   = $(patsubst -lz,-l:libz.a,$(shell $(PKG) --libs $(LIBAV))) \
      $(patsubst %,-l:lib%.a,png16 jpeg webp \
      $(shell pkg-config --exists libsharpyuv && echo sharpyuv) jansson xxhash zstd z seccomp) \
      $(if $(CANVAS),$(shell pkg-config --libs $(CANVAS))) -lm $(CUDA_LIBS)
  LINK      += -static-libgcc -Wl,--export-dynamic-symbol=dav1d_version
  ifneq ($(CANVAS),)
    LINK += -Wl,--disable-new-dtags,-rpath,\$$ORIGIN/../lib
  endif
endif

# The same bytes in any folder: not among the flags that name the objects' folder.
MAP      = -ffile-prefix-map=$(CURDIR)=.

# Objects live under a name made from the flags, so that changing flags never mixes objects.
FLAGS_ID := $(shell printf '%s' '$(CC) $(CFLAGS) $(BASE) $(HARDENED) \
    $(ZEROED) $(LINK) $(NVCC) $(NVCC_FLAGS) $(SERVER)' \
    | cksum | cut -d' ' -f1)
BUILD    := out/build/$(FLAGS_ID)
# What nvcc and CXX make is the same for every CC.
NVCC_BUILD := out/build/nvcc-$(shell printf '%s' '$(NVCC) $(NVCC_FLAGS) $(CXX)' \
    | cksum | cut -d' ' -f1)
BIN      := out/bin$(if $(SAN),-$(SAN))$(if $(PORTABLE),-portable)$(if $(DEB),-deb)

# The inner loops of one instruction set each; everything else stays at the x86-64 base line.
# They keep vectors in local arrays, which ZEROED would fill with zeros again and again: 5 % of the
# k-means with AVX2.
ISA_FLAGS_avx2 = -mavx2 -mbmi -mbmi2 -mlzcnt -mpopcnt
ISA_FLAGS_vnni = $(ISA_FLAGS_avx2) -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx512vnni
X86_64  := $(filter __x86_64__,$(PREDEFINED))
# The sets that a file X_isa.c is compiled for, each into an object of its own (isa.h).
isa_sets = base $(if $(X86_64),avx2 $(if $(filter src/kmeans/%,$(1)),vnni))

SRC     := $(sort $(wildcard src/*.c src/*/*.c src/*/*/*.c))
SRC     := $(filter-out src/live/serve/serve$(if $(filter 1,$(SERVER)),_none).c,$(SRC))
SRC     := $(filter-out src/output/poster/canvas_$(if $(CANVAS),none,cairo).c, \
    $(SRC))

# Each room of src/ is an archive. A program is linked with a room and those below it, in the
# order of rooms.mk: where an arrow runs up, a test program of the lower room does not link. The
# CUDA engine and the CPU's call each other.
include src/rooms.mk
archive   = $(patsubst %,$(BUILD)/lib%.a,$(1))
ISA_SRC  := $(filter %_isa.c,$(SRC))
room_obj  = $(patsubst %.c,$(BUILD)/%.o,$(filter src/$(1)/%,$(filter-out $(ISA_SRC),$(SRC)))) \
    $(foreach f,$(filter src/$(1)/%,$(ISA_SRC)),$(foreach set,$(call isa_sets,$(f)), \
        $(f:%.c=$(BUILD)/%.$(set).o))) \
    $(if $(filter output,$(1)),$(PAGE_MADE).o) $(if $(filter engine,$(1)),$(CUDA_OBJ))
lean      = $(sort $(1) $(foreach room,$(1),$(ARROWS_$(room))) \
    $(if $(CUDA_OBJ),$(if $(filter engine,$(1)),sound)))
with_below = $(filter $(call lean,$(call lean,$(call lean,$(call lean,$(1))))),$(ROOMS))
LIB       = $(call archive,$(ROOMS))

# The pages' own files (html_template.h) are bytes of the program.
PAGE_FILES := $(sort $(wildcard src/output/html/page/*.html src/output/html/page/*.css \
    src/output/html/page/*.js))
PAGE_MADE  := $(BUILD)/src/output/html/page_files

# The unit tests of a room are one program; so are those of a folder in it, which replace
# functions of libc or of the program. Those of the room `main` need a command line. ROOM: of
# these rooms alone.
ROOM    := main $(ROOMS)
unit_programs = $(patsubst tests/unit/%/,test_%,$(sort $(dir $(wildcard tests/unit/$(1)/test_*.c \
    tests/unit/$(1)/*/test_*.c))))
UNIT    := $(subst /,_,$(foreach room,$(ROOM),$(call unit_programs,$(room))))
BENCH   := $(patsubst tests/bench/%.c,%,$(sort $(wildcard tests/bench/bench_*.c)))

# C finds "media/gop/chunker.h" by BASE, where arrows.py sees to it who may; of the kernels, only
# tests look into src.
$(NVCC_BUILD)/tests/%: NVCC_FLAGS += -Isrc

# What is being made, in a line of its own; V=1: by which command.
quietly = $(if $(filter 1,$(V)),,@printf '  %-5s %s\n' $(1) $(2);)

.PHONY: all
all: $(BIN)/barcode ## the program, in out/bin

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(call quietly,CC,$<)$(CC) $(BASE) $(CFLAGS) $(HARDENED) $(MAP) $(PKG_CFLAGS) $(ZEROED) -c $< -o $@

define isa_rule
$(BUILD)/%_isa.$(1).o: %_isa.c
	@mkdir -p $$(@D)
	$$(call quietly,CC,"$$< $(1)") \
	    $$(CC) $$(BASE) $$(CFLAGS) $$(HARDENED) $$(MAP) $$(PKG_CFLAGS) \
	    -DISA=$(1) $$(ISA_FLAGS_$(1)) -c $$< -o $$@
endef
$(foreach set,base avx2 vnni,$(eval $(call isa_rule,$(set))))

$(PAGE_MADE).c: $(PAGE_FILES) src/output/html/page/embed.sh
	@mkdir -p $(@D)
	$(call quietly,EMBED,$@)src/output/html/page/embed.sh $(PAGE_FILES) > $@

$(PAGE_MADE).o: $(PAGE_MADE).c
	$(call quietly,CC,$<)$(CC) $(BASE) $(CFLAGS) $(HARDENED) $(MAP) $(PKG_CFLAGS) -c $< -o $@

$(NVCC_BUILD)/%.o: %.cu
	@mkdir -p $(@D)
	$(call quietly,NVCC,$<)$(NVCC) $(NVCC_FLAGS) -MF $(@:.o=.d) -c $< -o $@

# When the flags are others than the last time, what lies in BIN is of the last time: everything
# is linked anew.
$(BIN)/.flags: FORCE
	@mkdir -p $(@D)
	@echo '$(FLAGS_ID)' | cmp -s - $@ || echo '$(FLAGS_ID)' > $@
.PHONY: FORCE
FORCE:

.SECONDEXPANSION:
$(BUILD)/lib%.a: $$(call room_obj,$$*) $(BIN)/.flags
	@rm -f $@
	$(call quietly,AR,$@)ar qcsD $@ $(call room_obj,$*)

$(BIN)/barcode: $(BUILD)/src/main.o $(LIB)
	@mkdir -p $(@D)
	$(call quietly,LINK,$@)$(CC) $(LINK) -pthread $^ $(PKG_LIBS) -o $@

unit_obj = $(patsubst %.c,$(BUILD)/%.o,tests/unit/runner.c $(wildcard tests/unit/$(1)/*.c))

$(BUILD)/tests/unit/%.o: BASE += -Itests/unit

# All of the room itself: an arrow that runs up does not link, whether a test needs it or not.
# libebur128 judges our loudness.
$(BIN)/test_main $(ROOMS:%=$(BIN)/test_%): $(BIN)/test_%: $$(call unit_obj,$$*) \
    $$(call archive,$$(call with_below,$$*))
	@mkdir -p $(@D)
	$(call quietly,LINK,$@)$(CC) $(LINK) -pthread $(filter %.o,$^) \
	    -Wl,--whole-archive $(filter %/lib$*.a,$^) -Wl,--no-whole-archive \
	    $(filter-out %/lib$*.a,$(filter %.a,$^)) $(PKG_LIBS) -lebur128 -lcmocka -o $@

# test_ROOM_FOLDER
$(BIN)/test_%: $$(call unit_obj,$$(subst _,/,$$*)) \
    $$(call archive,$$(call with_below,$$(firstword $$(subst _, ,$$*))))
	@mkdir -p $(@D)
	$(call quietly,LINK,$@)$(CC) $(LINK) -pthread $^ $(PKG_LIBS) -lcmocka -o $@

$(BIN)/bench_%: $(BUILD)/tests/bench/bench_%.o $(LIB)
	@mkdir -p $(@D)
	$(call quietly,LINK,$@)$(CC) $(LINK) -pthread $^ $(PKG_LIBS) -o $@

# A feed of made columns for tests/live.sh.
$(BIN)/made_feed: $(BUILD)/tests/support/made_feed.o $(LIB)
	@mkdir -p $(@D)
	$(call quietly,LINK,$@)$(CC) $(LINK) -pthread $^ $(PKG_LIBS) -o $@

# For LD_PRELOAD in cases of the command line: threads and memory that cannot be had, bytes that
# cannot be read.
PRELOADS := $(addprefix $(BIN)/,few-threads.so bad-reads.so refused-memory.so \
    tried-calls.so)

$(BIN)/tried-calls.so: tests/unit/base/sandbox_attempts.h

# The same for other tests: files that crash who opens them.
$(BIN)/%.so: tests/support/%.c $(BIN)/.flags
	@mkdir -p $(@D)
	$(call quietly,LINK,$@)$(CC) -std=c11 -D_GNU_SOURCE $(WARN) -O2 -shared -fPIC $< -o $@

# What runs tests, or makes of its own, goes one after another in the order in which it was named,
# whatever -j says: tests that kill and time programs want no others beside them, and two makes
# would write the same objects.
IN_TURN := $(filter demo test check-all unit cli \
    cli-quick cli-rest asan tsan san-films judge fuzz fuzz-replay emulated gpu-pack test-gpu \
    lint bench test-align test-find test-same test-shots test-slurm \
    test-many test-io test-bombs test-poster test-data test-deb test-docker test-arm64 \
    test-dist test-wheel test-reproducible test-web test-live,$(MAKECMDGOALS))
$(foreach goal,$(IN_TURN),$(eval $(goal): | $(before))$(eval before := $(goal)))

.SECONDARY:
.DELETE_ON_ERROR:
-include $(shell find $(BUILD) $(NVCC_BUILD) -name '*.d' 2>/dev/null)

# ------------------------------------------------------------------ set-up and the two README
# commands

.PHONY: deps
deps: ## installs the Debian packages that are missing (root or sudo); does nothing when none is
	@tests/support/install-packages.sh

.PHONY: demo
demo: deps ## builds, makes the sample film, renders it in every mode to out/
	@$(MAKE) --no-print-directory $(BIN)/barcode out/sample.mkv
	$(BIN)/barcode out/sample.mkv -m kmeans,dominant,palette,average,squeeze --every 2 \
	    --cache out/cache -o out/demo.png
	$(BIN)/barcode out/sample.mkv -m all --every 2 --cache out/cache -o out/demo-all.png
	@echo "look at out/demo-kmeans.png and out/demo-all.png"

## readme-pictures: the README's pictures, into samples/, from the two films in BARCODE_FILMS
.PHONY: readme-pictures
readme-pictures: films-there $(BIN)/barcode
	@BARCODE=$(BIN)/barcode tests/support/readme-pictures.sh "$(BARCODE_FILMS)" samples

## test: builds, makes the clips that it needs, runs the unit tests and the quick cases of the
##   command line
.PHONY: test
test: deps
	@$(MAKE) --no-print-directory $(BIN)/barcode $(UNIT_BIN) out/sample.mkv out/clips.quick $(PRELOADS)
	@$(MAKE) --no-print-directory unit cli-quick

PARTS = unit cli emulated fuzz-replay

## check-all: every test that needs no GPU: all clips, all cases, emulated kernels, fuzz seeds
##   (PARTS: some of these)
.PHONY: check-all
check-all: films-there deps
	@$(MAKE) --no-print-directory $(BIN)/barcode $(UNIT_BIN) out/sample.mkv out/clips.made \
	    $(if $(filter 1,$(CUDA)),$(EMULATED))
	@failed=0; for part in $(if $(filter 1,$(CUDA)),$(PARTS),$(filter-out emulated,$(PARTS))); do \
	    $(MAKE) --no-print-directory $$part || failed=1; done; exit $$failed

# A BARCODE_FILMS that names no films is told at once, and not after ten minutes.
.PHONY: films-there
films-there:
	@tests/support/films.sh > /dev/null

# ------------------------------------------------------------------ tests

UNIT_BIN := $(addprefix $(BIN)/,$(UNIT))

## unit: the unit tests alone (ROOM=media: of this room; TEST=test_demux or test_demux:PATTERN: of
##   this file)
.PHONY: unit
unit: $(UNIT_BIN)
	@TEST='$(TEST)' tests/support/run-unit.sh $(UNIT_BIN)

out/sample.mkv: samples/make_film.py
	@mkdir -p $(@D)
	$(PYTHON) $< $@.part.mkv
	@mv $@.part.answers.tsv out/sample.answers.tsv
	@mv $@.part.mkv $@

out/clips.made: tests/support/make-clips.sh tests/support/make-clips-formats.sh \
    tests/support/make-film.sh
	tests/support/make-clips.sh out/clips
	@touch $@

# The clips of the quick cases alone.
out/clips.quick: tests/cli/quick-clips tests/support/make-clips.sh
	tests/support/make-clips.sh out/clips $$(cat $<)
	@touch $@

.PHONY: clips
clips: out/clips.made ## the films that the tests are made of, by the ffmpeg program

## cli: the built program as a user calls it (CASES=REGEX: those cases)
.PHONY: cli
cli: $(BIN)/barcode $(PRELOADS) out/sample.mkv out/clips.made
	@BARCODE=$(BIN)/barcode tests/cli/run.sh "$(CASES)"

## cli-quick: the cases that are marked quick
.PHONY: cli-quick
cli-quick: $(BIN)/barcode $(PRELOADS) out/sample.mkv out/clips.quick
	@BARCODE=$(BIN)/barcode tests/cli/run.sh --quick "$(CASES)"

.PHONY: cli-rest
cli-rest: $(BIN)/barcode $(PRELOADS) out/sample.mkv out/clips.made ## the cases that are not
	@BARCODE=$(BIN)/barcode tests/cli/run.sh --rest "$(CASES)"

.PHONY: check
check: unit ## the same: with ROOM=, what to run after each change

.PHONY: asan
asan: ## unit tests under AddressSanitizer and UBSan
	@$(MAKE) --no-print-directory SAN=address unit

.PHONY: tsan
tsan: ## unit tests under ThreadSanitizer, of the rooms that have threads
	@$(MAKE) --no-print-directory SAN=thread ROOM='$(filter-out cli kmeans match sound,$(ROOM))' unit

.PHONY: san-films
san-films: out/clips.made ## the program under both sanitizers on a choice of the test clips
	@$(MAKE) --no-print-directory SAN=address out/bin-address/barcode
	@$(MAKE) --no-print-directory SAN=thread out/bin-thread/barcode
	@tests/support/sanitized-films.sh out/bin-address/barcode out/bin-thread/barcode

## test-mutated: mutated clips through the program under ASan and UBSan (COUNT=2000; half an hour)
.PHONY: test-mutated
test-mutated: out/clips.made
	@$(MAKE) --no-print-directory SAN=address out/bin-address/barcode
	@$(PYTHON) tests/mutated_films.py out/bin-address/barcode out/clips $(or $(COUNT),2000)

## judge: independent judges: scikit-learn for inertia, the ffmpeg program for frames, SciPy for
##   sound, NumPy for keograms
.PHONY: judge
judge: films-there $(BIN)/barcode $(BIN)/bench_sound out/sample.mkv out/clips.made
	@tests/support/install-packages.sh judge
	@BARCODE=$(BIN)/barcode BENCH_SOUND=$(BIN)/bench_sound PYTHON=$(PYTHON) tests/judge.sh

# Tests that need more than ffmpeg: the packages (install-packages.sh), what is built beside the
# program, and the command.
define own_test
.PHONY: test-$(1)
test-$(1): deps
	@$$(if $(2),tests/support/install-packages.sh $(2))
	@$$(MAKE) --no-print-directory $$(BIN)/barcode $(3)
	@BARCODE=$$(BIN)/barcode PYTHON=$$(PYTHON) $(4)
endef

## test-poster: posters rendered by poppler and librsvg: pixels, titles in Chinese and Arabic, page
##   sizes (two minutes)
$(eval $(call own_test,poster,poster,out/sample.mkv,tests/poster.sh))
## test-slurm: samples/slurm on a Slurm cluster of this machine's own (half a minute)
$(eval $(call own_test,slurm,slurm,,tests/slurm.sh))
## test-many: a batch of 1,000 made films, good and bad, a crash, and kills (two minutes)
$(eval $(call own_test,many,,$(BIN)/bad-reads.so, \
    CRASHING=$(BIN)/bad-reads.so tests/many-films.sh))
## test-bombs: films that take far more memory than their size allows, beside good ones (three
##   minutes)
$(eval $(call own_test,bombs,,,$(PYTHON) tests/bombs.py))
## test-web: the pages of --html in a real browser (chromium; two minutes); screenshots in
##   out/test/web
$(eval $(call own_test,web,web,out/sample.mkv out/clips.made,$(PYTHON) tests/web.py))
## test-live: live barcodes with real parts: streams, clocks, losses, kills, the page, hostile
##   clients (four minutes)
$(eval $(call own_test,live,live,$(BIN)/made_feed,MADE_FEED=$(BIN)/made_feed tests/live.sh))
## test-data: CSV and JSON as pandas and R read them, by samples/python and samples/r; with PYPI=1
##   shot lists as opentimelineio (of PyPI) and mkvmerge read them (a minute)
$(eval $(call own_test,data,data,,tests/data.sh))
## test-align: an hour of made sound and other versions of it, aligned (15 minutes the first time,
##   then two)
$(eval $(call own_test,align,align,,tests/align.sh))
## test-find: 10 s clips and their films among 20 made ones (two minutes; FILMS and CLIPS: how many)
$(eval $(call own_test,find,align,,$(PYTHON) tests/find.py $(or $(FILMS),20) $(or $(CLIPS),40)))
## test-same: find --same on a library of 60 files: copies, trailers, links (two minutes)
$(eval $(call own_test,same,align,,$(PYTHON) tests/same.py))
## test-shots: cuts, fades and dissolves of made films, and of PySceneDetect if PYTHON has it
##   (15 minutes the first time, then one)
$(eval $(call own_test,shots,,$(BIN)/bench_shots, \
    BENCH_SHOTS=$(BIN)/bench_shots $(PYTHON) tests/shots_judge.py out/shots))
## test-time: lengths and times in 82 pairs of container and codec, compared with ffprobe's (two
##   minutes)
$(eval $(call own_test,time,,,$(PYTHON) tests/time_matrix.py))
## test-io: 300 runs with read errors at random places of films, pipes and the cache (a minute)
$(eval $(call own_test,io,,$(BIN)/bad-reads.so, \
    FAILING=$(BIN)/bad-reads.so $(PYTHON) tests/read_errors.py))

# ------------------------------------------------------------------ fuzzing

FUZZ := $(patsubst tests/fuzz/%.c,%,$(sort $(wildcard tests/fuzz/fuzz_*.c)))
FUZZ_SECONDS ?= 60

out/bin-fuzzer/fuzz_%: $(BUILD)/tests/fuzz/fuzz_%.o $(LIB)
	@mkdir -p $(@D)
	$(call quietly,LINK,$@)$(CC) $(LINK) -fsanitize=fuzzer -pthread $^ $(PKG_LIBS) -o $@

$(BIN)/replay_%: $(BUILD)/tests/fuzz/fuzz_%.o $(BUILD)/tests/fuzz/replay_main.o $(LIB)
	@mkdir -p $(@D)
	$(call quietly,LINK,$@)$(CC) $(LINK) -pthread $^ $(PKG_LIBS) -o $@

.PHONY: fuzz
fuzz: ## every fuzz target for FUZZ_SECONDS (60) with clang's libFuzzer
	@tests/support/install-packages.sh lint
	@$(MAKE) --no-print-directory out/bin/barcode
	@$(MAKE) --no-print-directory SAN=fuzzer $(addprefix out/bin-fuzzer/,$(FUZZ))
	@tests/fuzz/make-corpus.sh out/corpus
	@for f in $(FUZZ); do mkdir -p out/fuzz/$$f; \
	    out/bin-fuzzer/$$f -max_total_time=$(FUZZ_SECONDS) -artifact_prefix=out/fuzz/$$f- \
	        out/fuzz/$$f out/corpus/$${f#fuzz_} || exit 1; done

## fuzz-replay: made seeds through the fuzz targets, without a fuzzer
.PHONY: fuzz-replay
fuzz-replay: $(BIN)/barcode $(patsubst fuzz_%,$(BIN)/replay_%,$(FUZZ))
	@LSAN_OPTIONS=suppressions=$(CURDIR)/tests/support/lsan.supp:print_suppressions=0 \
	    BARCODE=$(BIN)/barcode tests/fuzz/make-corpus.sh out/corpus
	@for f in $(FUZZ); do $(BIN)/replay_$${f#fuzz_} out/corpus/$${f#fuzz_} || exit 1; done

# ------------------------------------------------------------------ the GPU

# The kernels' own source, compiled for the CPU: whether the algorithm is right can be told
# without a GPU.
EMULATED_KMEANS   := cuda/kmeans_gpu cuda/kmeans_points cuda/kmeans_restart
EMULATED_DOMINANT := cuda/dominant_gpu
EMULATED_SOUND    := cuda/sound_gpu
EMULATED          := $(addprefix $(BIN)/,check_kmeans_emulated check_dominant_emulated \
    check_sound_emulated)
EMULATE  := $(CXX) -std=c++17 -O2 -DBARCODE_EMULATED -Iinclude -Icuda -Isrc -Itests/emulator \
    -isystem $(CUDA_HOME)/include -MMD -MP

$(NVCC_BUILD)/emulated/%.o: %.cu
	@mkdir -p $(@D)
	$(EMULATE) -x c++ -c $< -o $@

$(NVCC_BUILD)/emulated/%.o: %.cc
	@mkdir -p $(@D)
	$(EMULATE) -c $< -o $@

emulated_objects = $(patsubst %,$(NVCC_BUILD)/emulated/%.o,$(1) tests/check/$(2) \
    tests/emulator/cuda_emulator)
$(BIN)/check_kmeans_emulated: $(call emulated_objects,$(EMULATED_KMEANS),check_kmeans) $(LIB)
$(BIN)/check_dominant_emulated: $(call emulated_objects,$(EMULATED_DOMINANT),check_dominant) $(LIB)
$(BIN)/check_sound_emulated: $(call emulated_objects,$(EMULATED_SOUND),check_sound) $(LIB)
$(EMULATED):
	@mkdir -p $(@D)
	$(CXX) $^ -pthread $(PKG_LIBS) -o $@

## emulated: the kernels of k-means, modes and sound on the CPU against the CPU engine (needs nvcc's
##   headers)
.PHONY: emulated
emulated: $(EMULATED)
	@set -o pipefail; for check in $^; do $$check --quick | tail -n 20 || exit 1; done

CHECKS := $(patsubst tests/check/%.cu,%,$(sort $(wildcard tests/check/check_*.cu)))
CU_BENCH  := $(patsubst tests/bench/%.cu,%,$(sort $(wildcard tests/bench/bench_*.cu)))

$(addprefix $(BIN)/,$(CHECKS)): $(BIN)/%: $(NVCC_BUILD)/tests/check/%.o $(LIB)
	@mkdir -p $(@D)
	$(call quietly,LINK,$@)$(CC) $(LINK) -pthread $^ $(PKG_LIBS) $(STDCXX) -o $@

$(addprefix $(BIN)/,$(CU_BENCH)): $(BIN)/%: $(NVCC_BUILD)/tests/bench/%.o $(LIB)
	@mkdir -p $(@D)
	$(call quietly,LINK,$@)$(CC) $(LINK) -pthread $^ $(PKG_LIBS) $(STDCXX) -o $@

.PHONY: static-ffmpeg
static-ffmpeg:
	@CC='$(CC)' HARDENED='$(filter-out -fPIE,$(HARDENED)) $(ZEROED)' \
	    tests/support/build-static-ffmpeg.sh $(FFMPEG)

## portable: one self-contained program, out/bin-portable/barcode, for hosts that have nothing but
##   an NVIDIA driver
.PHONY: portable
portable:
	@tests/support/install-packages.sh portable
	@$(MAKE) --no-print-directory static-ffmpeg
	@$(MAKE) --no-print-directory PORTABLE=1 out/bin-portable/barcode

## portable-tests: what `make test-gpu` runs, self-contained too, to be carried to a host with a GPU
.PHONY: portable-tests
portable-tests: portable
	@$(MAKE) --no-print-directory PORTABLE=1 $(addprefix out/bin-portable/,$(CHECKS) $(CU_BENCH) \
	    refused-calls.so)

## gpu-pack: out/gpu: what tests/support/gpu-session.sh needs on a host with a GPU
.PHONY: gpu-pack
gpu-pack: films-there portable-tests
	@$(MAKE) --no-print-directory out/sample.mkv out/clips.made
	@tests/support/pack-gpu.sh out/gpu

## test-gpu: everything that needs a GPU: exact checks, films on both engines (GPU_BIN: where the
##   programs are)
.PHONY: test-gpu
test-gpu: films-there $(if $(GPU_BIN),,out/sample.mkv out/clips.made)
	@$(if $(GPU_BIN),,$(MAKE) --no-print-directory all $(addprefix $(BIN)/,$(CHECKS)))
	@tests/support/test-gpu.sh $(or $(GPU_BIN),$(BIN))

# ------------------------------------------------------------------ every program

PROGRAMS := barcode $(UNIT) $(BENCH) $(FUZZ:fuzz_%=replay_%) \
    $(if $(filter 1,$(CUDA)),$(CHECKS) $(CU_BENCH) $(notdir $(EMULATED))) made_feed

.PHONY: programs
programs: $(addprefix $(BIN)/,$(sort $(PROGRAMS))) ## every program of this tree, built and not run

# ------------------------------------------------------------------ lint

CODE = '*.c' '*.h' '*.cu' '*.cuh' '*.cc'

.PHONY: lint
lint: ## sizes, includes, headers alone, format, shell scripts, clang-tidy
	@tests/support/install-packages.sh lint
	@tests/support/lint.sh
	@git ls-files $(CODE) | xargs clang-format --dry-run -Werror
	@shellcheck -x .ci/run samples/slurm/barcode.sbatch src/output/html/page/embed.sh \
	    tests/*.sh tests/*/*.sh
	@$(MAKE) --no-print-directory tidy

.PHONY: format
format: ## clang-format on all code
	@tests/support/install-packages.sh lint
	@git ls-files $(CODE) | xargs clang-format -i

.PHONY: tidy
tidy: compdb ## clang-tidy alone
	@printf '%s\n' $(SRC) | xargs -P $$(nproc) -I{} tests/support/tidy.sh {}

## compdb: out/compile_commands.json, where .clangd looks: how clang compiles every file, from
##   make's own dry run
.PHONY: compdb
compdb:
	@set -o pipefail; $(MAKE) --no-print-directory CC=clang V=1 -nB programs \
	    | tests/support/compdb.py > out/compile_commands.json

# ------------------------------------------------------------------ benchmarks

## bench: the figures of tests/bench/README.md, printed (about 20 minutes)
.PHONY: bench
bench: films-there $(BIN)/barcode $(addprefix $(BIN)/,$(BENCH))
	@tests/support/install-packages.sh judge
	@BIN=$(BIN) tests/bench/run.py

# ------------------------------------------------------------------ man page, installing

# The date in what is packed is that of the last commit, as make-deb.sh has it.
COMMITTED = $(shell git log -1 --format=%ct 2>/dev/null || stat -c %Y src/base/version.h)
EPOCH     = SOURCE_DATE_EPOCH=$(or $(SOURCE_DATE_EPOCH),$(COMMITTED))

MAN = $(if $(DEB)$(PORTABLE),$(BIN),out)/barcode.1
$(MAN): $(BIN)/barcode src/cli/barcode.h2m
	$(EPOCH) help2man --no-info --include=src/cli/barcode.h2m \
	    --name="make a movie barcode, one picture of a film's colours" \
	    --version-string="barcode $(VERSION)" -o $@ $<

.PHONY: man
man: $(MAN) ## the man page, by help2man

# The program knows its options: there is no other list of them.
$(BIN)/completions/%: $(BIN)/barcode
	@mkdir -p $(@D)
	$< --generate complete-$* > $@

DIST = out/dist/barcode-$(VERSION)-linux-$(shell uname -m)

# Where the shells look, below PREFIX.
BASH_COMPLETIONS ?= share/bash-completion/completions
ZSH_COMPLETIONS  ?= share/zsh/site-functions
FISH_COMPLETIONS ?= share/fish/vendor_completions.d
SCHEMAS := $(wildcard src/output/schema/*.schema.json)
INSTALLED = bin/barcode share/man/man1/barcode.1 \
    $(addprefix share/barcode/,$(notdir $(SCHEMAS))) $(BASH_COMPLETIONS)/barcode \
    $(ZSH_COMPLETIONS)/_barcode $(FISH_COMPLETIONS)/barcode.fish

## install: program, man page, schemas and shell completions under DESTDIR PREFIX
.PHONY: install
install: $(BIN)/barcode $(MAN) $(addprefix $(BIN)/completions/,bash zsh fish)
	install -Dm755 $(BIN)/barcode $(DESTDIR)$(PREFIX)/bin/barcode
	install -Dm644 $(MAN) $(DESTDIR)$(PREFIX)/share/man/man1/barcode.1
	install -Dm644 -t $(DESTDIR)$(PREFIX)/share/barcode $(SCHEMAS)
	install -Dm644 $(BIN)/completions/bash $(DESTDIR)$(PREFIX)/$(BASH_COMPLETIONS)/barcode
	install -Dm644 $(BIN)/completions/zsh $(DESTDIR)$(PREFIX)/$(ZSH_COMPLETIONS)/_barcode
	install -Dm644 $(BIN)/completions/fish $(DESTDIR)$(PREFIX)/$(FISH_COMPLETIONS)/barcode.fish

.PHONY: uninstall
uninstall: ## removes what install put there
	rm -f $(addprefix $(DESTDIR)$(PREFIX)/,$(INSTALLED))

.PHONY: deb
deb: deps ## out/film-barcode_VERSION_ARCH.deb, a Debian package that lintian accepts
	@tests/support/install-packages.sh deb
	@rm -rf out/deb
	@$(MAKE) --no-print-directory DEB=1 CUDA=0 DESTDIR=out/deb PREFIX=/usr \
	    ZSH_COMPLETIONS=share/zsh/vendor-completions install
	@tests/support/make-deb.sh out/deb out

## test-deb: the package in a bare Debian 12 of its own (root; debootstrap downloads it)
.PHONY: test-deb
test-deb: deb out/sample.mkv
	@tests/support/install-packages.sh deb-test
	@tests/support/test-deb.sh out/film-barcode_*_$$(dpkg --print-architecture).deb out/sample.mkv

# How a program is linked says what is in it.
SBOM = out/bin-portable/barcode.spdx.json
$(BIN)/barcode.spdx.json: $(BIN)/barcode tests/support/sbom.py
	@$(EPOCH) tests/support/sbom.py $< $(FFMPEG) $(LINK) $(PKG_LIBS) > $@

## sbom: what the portable program is made of, as SPDX 2.3: out/bin-portable/barcode.spdx.json
.PHONY: sbom
sbom: portable
	@$(MAKE) --no-print-directory PORTABLE=1 $(SBOM)

.PHONY: test-reproducible
test-reproducible: deps ## program and package, built in two folders: the same bytes
	@tests/support/install-packages.sh deb
	@tests/support/test-reproducible.sh

.PHONY: dist
dist: sbom ## the portable program, man page, completions, licences, SBOM: out/barcode-*.tar.xz
	@rm -rf out/dist
	@$(MAKE) --no-print-directory PORTABLE=1 DESTDIR=$(DIST) PREFIX= install
	@$(EPOCH) CUDA_HOME=$(CUDA_HOME) SBOM=$(SBOM) tests/support/make-dist.sh $(DIST) $(FFMPEG) out

.PHONY: test-dist
test-dist: dist out/sample.mkv ## the archive, unpacked where only glibc is (root, for chroot)
	@$(EPOCH) CUDA_HOME=$(CUDA_HOME) SBOM=$(SBOM) tests/support/test-dist.sh $(DIST) $(FFMPEG) out \
	    out/sample.mkv

## wheel: the Python package, with the program inside: out/film_barcode-*.whl (root; a quarter of an
##   hour the first time)
.PHONY: wheel
wheel: deps
	@tests/support/install-packages.sh wheel
	@$(EPOCH) tests/support/make-wheel.sh out

## test-wheel: the wheel in bare Debians 11, 12 and 13 of its own (root, for chroot)
.PHONY: test-wheel
test-wheel: wheel
	@tests/support/install-packages.sh wheel
	@tests/support/test-wheel.sh out/film_barcode-*.whl

## test-arm64: unit tests, a choice of cases and the package for arm64 under qemu-user (root)
.PHONY: test-arm64
test-arm64: deps
	@tests/support/install-packages.sh arm64
	@$(MAKE) --no-print-directory $(BIN)/barcode out/sample.mkv out/clips.quick
	@tests/support/make-clips.sh out/clips mpeg1.mpg mjpeg.avi
	@tests/support/test-arm64.sh $(BIN)/barcode out/clips out/sample.mkv

.PHONY: test-docker
test-docker: deps out/sample.mkv ## samples/docker/Dockerfile's steps in a chroot (root)
	@tests/support/install-packages.sh deb-test
	@tests/support/test-docker.sh samples/docker/Dockerfile out/sample.mkv

.PHONY: clean
clean: ## removes everything built or produced
	@find out -mindepth 1 -maxdepth 1 ! -name .gitignore -exec rm -rf {} +

.PHONY: help
help: ## this list
	@sed -n -e 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' -e 's/^## \([a-z-]*\): /  make \1\t/p' \
	    -e 's/^##   */\t/p' Makefile | expand -t 20
