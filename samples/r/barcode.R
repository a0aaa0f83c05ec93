# Reads what `barcode --csv` wrote, and plots lightness over time. Base R only.
#
#     source("barcode.R")
#     d <- read_barcode("all.csv")
#     aggregate(cbind(lightness, chroma, contrast) ~ title, d, mean)
#
#     Rscript barcode.R all.csv plot.pdf

# Returns a data frame with a row for each column of a film. Colours as #rrggbb are text; titles are
# a factor in the order of the table; an empty value is NA.
read_barcode <- function(path) {
  d <- read.csv(path, colClasses = "character", na.strings = character(), encoding = "UTF-8", check.names = FALSE)
  text <- grepl("^(title|file|film|status|(colour|average|dominant)(_[0-9]+)?)$", names(d))
  d[!text] <- lapply(d[!text], as.numeric)
  d[text] <- lapply(d[text], function(v) sub("^'([-=+@\t\r])", "\\1", v))
  if (!is.null(d$title)) d$title <- factor(d$title, levels = unique(d$title))
  d
}

# Draws each film's lightness (CIE L*) over time, in the colours of its columns.
plot_lightness <- function(d) {
  films <- split(d, d$file)[unique(d$file)]
  old <- par(mfrow = c(length(films), 1), mar = c(4, 4, 2, 1))
  on.exit(par(old))
  for (film in films) {
    film <- film[film$status != "missing", ]
    plot(film$time, film$lightness, type = "h", ylim = c(0, 100), lwd = 2, main = film$title[1],
         col = rgb(film$r, film$g, film$b, maxColorValue = 255), xlab = "time in s", ylab = "L*")
  }
}

if (sys.nframe() == 0) {
  args <- commandArgs(trailingOnly = TRUE)
  d <- read_barcode(args[1])
  print(aggregate(cbind(lightness, chroma, contrast) ~ title, d, mean))
  if (length(args) > 1) {
    pdf(args[2])
    plot_lightness(d)
    invisible(dev.off())
  }
}
