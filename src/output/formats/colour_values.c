#include "colour_values.h"

#include <math.h>

void colour_light_fill(struct colour_light *light)
{
    for (int i = 0; i < 256; i++) {
        double v = i / 255.0;
        light->of[i] = v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4);
    }
}

/* Multiplies `from` by a matrix. */
static void multiply(const double matrix[3][3], const double from[3], double to[3])
{
    for (int i = 0; i < 3; i++)
        to[i] = matrix[i][0] * from[0] + matrix[i][1] * from[1] + matrix[i][2] * from[2];
}

static double luminance(const struct colour_light *light, const uint8_t rgb[3])
{
    return 0.2126 * light->of[rgb[0]] + 0.7152 * light->of[rgb[1]] + 0.0722 * light->of[rgb[2]];
}

/* The f of CIE 1976, of a ratio to white. */
static double cie_root(double t)
{
    const double edge = 216.0 / 24389, slope = 841.0 / 108;
    return t > edge ? cbrt(t) : slope * t + 4.0 / 29;
}

static double lightness(double y) { return 116 * cie_root(y) - 16; }

/* Returns the hue angle in degrees, 0 to 360. A grey has none. */
static double hue(const uint8_t rgb[3], double a, double b)
{
    double degrees = atan2(b, a) * (180 / 3.14159265358979323846);
    if (rgb[0] == rgb[1] && rgb[1] == rgb[2])
        return NAN;
    return degrees < 0 ? degrees + 360 : degrees;
}

static void fill_lab(const double linear[3], const uint8_t rgb[3], double value[COLOUR_VALUES])
{
    static const double to_xyz[3][3] = {
        {0.4124, 0.3576, 0.1805}, {0.2126, 0.7152, 0.0722}, {0.0193, 0.1192, 0.9505}};
    const double one[3] = {1, 1, 1};
    double white[3], xyz[3], root[3];
    multiply(to_xyz, one, white);
    multiply(to_xyz, linear, xyz);
    for (int i = 0; i < 3; i++)
        root[i] = cie_root(xyz[i] / white[i]);
    double a = 500 * (root[0] - root[1]), b = 200 * (root[1] - root[2]);
    value[VALUE_LUMINANCE] = xyz[1];
    value[VALUE_LIGHTNESS] = lightness(xyz[1]);
    value[VALUE_LAB_A] = a;
    value[VALUE_LAB_B] = b;
    value[VALUE_CHROMA] = sqrt(a * a + b * b);
    value[VALUE_HUE] = hue(rgb, a, b);
}

static void fill_oklab(const double linear[3], const uint8_t rgb[3], double value[COLOUR_VALUES])
{
    static const double to_lms[3][3] = {{0.4122214708, 0.5363325363, 0.0514459929},
                                        {0.2119034982, 0.6806995451, 0.1073969566},
                                        {0.0883024619, 0.2817188376, 0.6299787005}};
    static const double to_lab[3][3] = {{0.2104542553, 0.7936177850, -0.0040720468},
                                        {1.9779984951, -2.4285922050, 0.4505937099},
                                        {0.0259040371, 0.7827717662, -0.8086757660}};
    double lms[3], lab[3];
    multiply(to_lms, linear, lms);
    for (int i = 0; i < 3; i++)
        lms[i] = cbrt(lms[i]);
    multiply(to_lab, lms, lab);
    value[VALUE_OK_LIGHTNESS] = lab[0];
    value[VALUE_OK_A] = lab[1];
    value[VALUE_OK_B] = lab[2];
    value[VALUE_OK_CHROMA] = sqrt(lab[1] * lab[1] + lab[2] * lab[2]);
    value[VALUE_OK_HUE] = hue(rgb, lab[1], lab[2]);
}

void colour_values(const struct colour_light *light, const uint8_t rgb[3],
                   double value[COLOUR_VALUES])
{
    double linear[3];
    int most = 0, least = 255;
    for (int i = 0; i < 3; i++) {
        linear[i] = light->of[rgb[i]];
        value[VALUE_R + i] = rgb[i];
        most = rgb[i] > most ? rgb[i] : most;
        least = rgb[i] < least ? rgb[i] : least;
    }
    value[VALUE_SATURATION] = most > 0 ? (double)(most - least) / most : 0;
    fill_lab(linear, rgb, value);
    fill_oklab(linear, rgb, value);
}

/* The weighted sums of a value and of its square. */
struct moments {
    double weight, sum, squares;
};

static void add_moment(struct moments *m, double weight, double value)
{
    m->weight += weight;
    m->sum += weight * value;
    m->squares += weight * value * value;
}

static double mean(const struct moments *m) { return m->sum / m->weight; }

static double variance(const struct moments *m)
{
    double v = m->squares / m->weight - mean(m) * mean(m);
    return v > 1e-9 ? v : 0; /* equal values: the rest is rounding */
}

double colour_contrast(const struct colour_light *light, const struct cluster *cluster, int count)
{
    struct moments l = {.weight = 0};
    for (int i = 0; i < count; i++)
        add_moment(&l, cluster[i].count, lightness(luminance(light, cluster[i].rgb)));
    return sqrt(variance(&l));
}

double colourfulness(const struct cluster *cluster, int count)
{
    struct moments rg = {.weight = 0}, yb = {.weight = 0};
    for (int i = 0; i < count; i++) {
        const uint8_t *rgb = cluster[i].rgb;
        add_moment(&rg, cluster[i].count, rgb[0] - rgb[1]);
        add_moment(&yb, cluster[i].count, (rgb[0] + rgb[1]) / 2.0 - rgb[2]);
    }
    return sqrt(variance(&rg) + variance(&yb)) +
           0.3 * sqrt(mean(&rg) * mean(&rg) + mean(&yb) * mean(&yb));
}
