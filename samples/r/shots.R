# Statistics of a film's shots, from `barcode film.mkv --shot-list film.csv`. Base R only.
#
#     source("shots.R")
#     d <- read_shots("film.csv")
#     mean(d$length); median(d$length)
#
#     Rscript shots.R film.csv film.png

# Returns a data frame with a row for each shot. Colours as #rrggbb are text; an empty value is NA.
read_shots <- function(path) {
  read.csv(path, na.strings = "", encoding = "UTF-8", colClasses = c(file = "character", title = "character"))
}

# Returns the shots per minute that begin in the seconds around each time.
cutting_rate <- function(d, times, seconds) {
  end <- max(d$end)
  sapply(times, function(t) {
    low <- max(0, t - seconds / 2)
    high <- min(end, t + seconds / 2)
    60 * sum(d$start[-1] >= low & d$start[-1] < high) / (high - low)
  })
}

# Draws each shot's length in its main colour, the cutting rate, and each shot's palette.
plot_shots <- function(d) {
  end <- max(d$end)
  old <- par(mfrow = c(3, 1), mar = c(3, 5, 1, 1), xaxs = "i", yaxs = "i", cex.lab = 1.5, cex.axis = 1.5)
  on.exit(par(old))
  main <- if (is.null(d$colour_1)) d$average else d$colour_1
  plot(NA, xlim = c(0, end), ylim = c(0, 1.05 * max(d$length)), xlab = "", ylab = "length of shot, s")
  rect(0, 0, end, 2 * max(d$length), col = "grey85", border = NA)
  rect(d$start, 0, d$end, d$length, col = main, border = NA)
  times <- seq(0, end, length.out = 201)
  rate <- cutting_rate(d, times, min(60, end / 5))
  plot(times, rate, type = "l", xlim = c(0, end), ylim = c(0, 1.05 * max(rate)), xlab = "",
       ylab = "shots per minute")
  par(mar = c(5, 5, 1, 1))
  plot(NA, xlim = c(0, end), ylim = c(0, 1), xlab = "time, s", ylab = "palette", yaxt = "n")
  below <- rep(0, nrow(d))
  for (n in seq_len(length(grep("^colour_", names(d))))) {
    share <- d[[paste0("share_", n)]]
    share[is.na(share)] <- 0
    shown <- share > 0
    rect(d$start[shown], below[shown], d$end[shown], (below + share)[shown], border = NA,
         col = d[[paste0("colour_", n)]][shown])
    below <- below + share
  }
}

if (sys.nframe() == 0) {
  args <- commandArgs(trailingOnly = TRUE)
  d <- read_shots(args[1])
  cat(sprintf("%d shots in %.1f s, %.1f per minute\n", nrow(d), max(d$end), 60 * nrow(d) / sum(d$length)))
  cat(sprintf("average shot length %.2f s, median %.2f s\n", mean(d$length), median(d$length)))
  if (length(args) > 1) {
    png(args[2], width = 800, height = 500)
    plot_shots(d)
    invisible(dev.off())
  }
}
