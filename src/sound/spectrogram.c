#include "barcode/sound/spectrogram.h"

#include <stdlib.h>
#include <string.h>

#include "stft_frames.h"

/*
 * What the tables are made from. Made once, with 400 bits, because the functions of <math.h> may
 * differ in the last bit between machines. test_spectrogram.c checks them.
 */
enum { STFT_QUARTER = 257, STFT_STEPS = 256 };

/* -cos(2 pi k / 1024) in Q31, rounded to nearest */
static const int32_t stft_quarter[STFT_QUARTER] = {
    INT32_MIN,   -2147443222, -2147321946, -2147119825, -2146836866, -2146473080, -2146028480,
    -2145503083, -2144896910, -2144209982, -2143442326, -2142593971, -2141664948, -2140655293,
    -2139565043, -2138394240, -2137142927, -2135811153, -2134398966, -2132906420, -2131333572,
    -2129680480, -2127947206, -2126133817, -2124240380, -2122266967, -2120213651, -2118080511,
    -2115867626, -2113575080, -2111202959, -2108751352, -2106220352, -2103610054, -2100920556,
    -2098151960, -2095304370, -2092377892, -2089372638, -2086288720, -2083126254, -2079885360,
    -2076566160, -2073168777, -2069693342, -2066139983, -2062508835, -2058800036, -2055013723,
    -2051150040, -2047209133, -2043191150, -2039096241, -2034924562, -2030676269, -2026351522,
    -2021950484, -2017473321, -2012920201, -2008291295, -2003586779, -1998806829, -1993951625,
    -1989021350, -1984016189, -1978936331, -1973781967, -1968553292, -1963250501, -1957873796,
    -1952423377, -1946899451, -1941302225, -1935631910, -1929888720, -1924072871, -1918184581,
    -1912224073, -1906191570, -1900087301, -1893911494, -1887664383, -1881346202, -1874957189,
    -1868497586, -1861967634, -1855367581, -1848697674, -1841958164, -1835149306, -1828271356,
    -1821324572, -1814309216, -1807225553, -1800073849, -1792854372, -1785567396, -1778213194,
    -1770792044, -1763304224, -1755750017, -1748129707, -1740443581, -1732691928, -1724875040,
    -1716993211, -1709046739, -1701035922, -1692961062, -1684822463, -1676620432, -1668355276,
    -1660027308, -1651636841, -1643184191, -1634669676, -1626093616, -1617456335, -1608758157,
    -1599999411, -1591180426, -1582301533, -1573363068, -1564365367, -1555308768, -1546193612,
    -1537020244, -1527789007, -1518500250, -1509154322, -1499751576, -1490292364, -1480777044,
    -1471205974, -1461579514, -1451898025, -1442161874, -1432371426, -1422527051, -1412629117,
    -1402678000, -1392674072, -1382617710, -1372509294, -1362349204, -1352137822, -1341875533,
    -1331562723, -1321199781, -1310787095, -1300325060, -1289814068, -1279254516, -1268646800,
    -1257991320, -1247288478, -1236538675, -1225742318, -1214899813, -1204011567, -1193077991,
    -1182099496, -1171076495, -1160009405, -1148898640, -1137744621, -1126547765, -1115308496,
    -1104027237, -1092704411, -1081340445, -1069935768, -1058490808, -1047005996, -1035481766,
    -1023918550, -1012316784, -1000676905, -988999351,  -977284562,  -965532978,  -953745043,
    -941921200,  -930061894,  -918167572,  -906238681,  -894275671,  -882278992,  -870249095,
    -858186435,  -846091463,  -833964638,  -821806413,  -809617249,  -797397602,  -785147934,
    -772868706,  -760560380,  -748223418,  -735858287,  -723465451,  -711045377,  -698598533,
    -686125387,  -673626408,  -661102068,  -648552838,  -635979190,  -623381598,  -610760536,
    -598116479,  -585449903,  -572761285,  -560051104,  -547319836,  -534567963,  -521795963,
    -509004318,  -496193509,  -483364019,  -470516330,  -457650927,  -444768294,  -431868915,
    -418953276,  -406021865,  -393075166,  -380113669,  -367137861,  -354148230,  -341145265,
    -328129457,  -315101295,  -302061269,  -289009871,  -275947592,  -262874923,  -249792358,
    -236700388,  -223599506,  -210490206,  -197372981,  -184248325,  -171116733,  -157978697,
    -144834714,  -131685278,  -118530885,  -105372028,  -92209205,   -79042909,   -65873638,
    -52701887,   -39528151,   -26352928,   -13176712,   0,
};

/* 2^(63 + (2 i + 1) / 512), rounded up: from here on a logarithm is rounded to step i + 1 */
static const uint64_t stft_threshold[STFT_STEPS] = {
    UINT64_C(0x802c6436d0e04f51), UINT64_C(0x80855ad965e88b84), UINT64_C(0x80de8f3b8b85a0b0),
    UINT64_C(0x813801881d886f7c), UINT64_C(0x8191b1ea15813bfe), UINT64_C(0x81eba08c8ad45370),
    UINT64_C(0x8245cd9ab2cec049), UINT64_C(0x82a0393fe0bb0ca9), UINT64_C(0x82fae3a785f61333),
    UINT64_C(0x8355ccfd3203de5b), UINT64_C(0x83b0f56c92a49628), UINT64_C(0x840c5d2173e97c8c),
    UINT64_C(0x84680447c049f83c), UINT64_C(0x84c3eb0b80b8ae30), UINT64_C(0x85201198dcb8a9c1),
    UINT64_C(0x857c781c1a729377), UINT64_C(0x85d91ec19ec9f695), UINT64_C(0x863605b5ed729563),
    UINT64_C(0x86932d25a905cc4a), UINT64_C(0x86f0953d931803c4), UINT64_C(0x874e3e2a8c4e3132),
    UINT64_C(0x87ac2819947366a0), UINT64_C(0x880a5337ca8e717c), UINT64_C(0x8868bfb26cf78851),
    UINT64_C(0x88c76db6d96e078d), UINT64_C(0x89265d728d2e3d5e), UINT64_C(0x89858f13250744b2),
    UINT64_C(0x89e502c65d70ef5f), UINT64_C(0x8a44b8ba12a1bf80), UINT64_C(0x8aa4b11c40a4f019),
    UINT64_C(0x8b04ec1b03708cfe), UINT64_C(0x8b6569e496fb9a19), UINT64_C(0x8bc62aa757544a02),
    UINT64_C(0x8c272e91c0b64414), UINT64_C(0x8c8875d26fa0f9ea), UINT64_C(0x8cea009820ee0c60),
    UINT64_C(0x8d4bcf11b1e7c025), UINT64_C(0x8dade16e205f81d9), UINT64_C(0x8e1037dc8ac479d4),
    UINT64_C(0x8e72d28c303a2f95), UINT64_C(0x8ed5b1ac70af3cea), UINT64_C(0x8f38d56cccf410d4),
    UINT64_C(0x8f9c3dfce6d1c23d), UINT64_C(0x8fffeb8c8120f286), UINT64_C(0x9063de4b7fe0bfef),
    UINT64_C(0x90c81669e84dc7f9), UINT64_C(0x912c9417e0f939b3), UINT64_C(0x91915785b1dff815),
    UINT64_C(0x91f660e3c481cc65), UINT64_C(0x925bb062a3f8a8b5), UINT64_C(0x92c14632fd0ffa89),
    UINT64_C(0x932722859e5c0dac), UINT64_C(0x938d458b78517f3c), UINT64_C(0x93f3af759d5cc106),
    UINT64_C(0x945a607541f9ad28), UINT64_C(0x94c158bbbccb2a1f), UINT64_C(0x9528987a86b2df2d),
    UINT64_C(0x95901fe33ae8f940), UINT64_C(0x95f7ef2797140054), UINT64_C(0x966006797b60bd5d),
    UINT64_C(0x96c8660aea9a30cc), UINT64_C(0x97310e0e0a4199b3), UINT64_C(0x9799feb522a68d99),
    UINT64_C(0x980338329eff2103), UINT64_C(0x986cbab90d8020c6), UINT64_C(0x98d6867b1f755c25),
    UINT64_C(0x99409baba959ffd0), UINT64_C(0x99aafa7da2f101c4), UINT64_C(0x9a15a324275d9e28),
    UINT64_C(0x9a8095d2753be51a), UINT64_C(0x9aebd2bbeeb9599b), UINT64_C(0x9b575a1419ada17f),
    UINT64_C(0x9bc32c0e9fb34688), UINT64_C(0x9c2f48df4e4088b5), UINT64_C(0x9c9bb0ba16c041be),
    UINT64_C(0x9d0863d30eaad9e3), UINT64_C(0x9d75625e6f9f4e04), UINT64_C(0x9de2ac90977c4720),
    UINT64_C(0x9e50429e08794337), UINT64_C(0x9ebe24bb693fcfa6), UINT64_C(0x9f2c531d8504d504),
    UINT64_C(0x9f9acdf94ba1f494), UINT64_C(0xa0099583d1aef745), UINT64_C(0xa078a9f2509b4e69),
    UINT64_C(0xa0e80b7a26c7a613), UINT64_C(0xa157ba50d79f893a), UINT64_C(0xa1c7b6ac0bb317a9),
    UINT64_C(0xa23800c190d0cdc5), UINT64_C(0xa2a898c75a1f5e3a), UINT64_C(0xa3197ef380379d95),
    UINT64_C(0xa38ab37c413e7fe1), UINT64_C(0xa3fc369800ff284d), UINT64_C(0xa46e087d49050ae4),
    UINT64_C(0xa4e02962c8b62070), UINT64_C(0xa552997f556d2c84), UINT64_C(0xa5c55909ea9415cc),
    UINT64_C(0xa6386839a9be509c), UINT64_C(0xa6abc745dac35be0), UINT64_C(0xa71f7665ebd95063),
    UINT64_C(0xa79375d171af828f), UINT64_C(0xa807c5c0278936a2), UINT64_C(0xa87c6669ef586771),
    UINT64_C(0xa8f15806d1d89fbe), UINT64_C(0xa9669acefea9e632), UINT64_C(0xa9dc2efacc6bbc03),
    UINT64_C(0xaa5214c2b8d82e60), UINT64_C(0xaac84c5f68defa98), UINT64_C(0xab3ed609a8c0c527),
    UINT64_C(0xabb5b1fa6c2a639b), UINT64_C(0xac2ce06ace503971), UINT64_C(0xaca461941209a7ed),
    UINT64_C(0xad1c35afa1ec90fc), UINT64_C(0xad945cf71068ed30), UINT64_C(0xae0cd7a417e474e4),
    UINT64_C(0xae85a5f09ad65c8f), UINT64_C(0xaefec816a3e32457), UINT64_C(0xaf783e5065f87af7),
    UINT64_C(0xaff208d83c6933f9), UINT64_C(0xb06c27e8ab09515c), UINT64_C(0xb0e69bbc5e4a20b2),
    UINT64_C(0xb161648e2b566bbd), UINT64_C(0xb1dc8299102ebca0), UINT64_C(0xb257f61833c5b5ac),
    UINT64_C(0xb2d3bf46e61c7cde), UINT64_C(0xb34fde60a05f3b0f), UINT64_C(0xb3cc53a10501aef4),
    UINT64_C(0xb4491f43dfdbd3ee), UINT64_C(0xb4c6418526469cbc), UINT64_C(0xb543baa0f738c224),
    UINT64_C(0xb5c18ad39b63a595), UINT64_C(0xb63fb259855047d4), UINT64_C(0xb6be316f517c53cd),
    UINT64_C(0xb73d0851c6773d80), UINT64_C(0xb7bc373dd4ff752f), UINT64_C(0xb83bbe70981faec9),
    UINT64_C(0xb8bb9e27554c3dab), UINT64_C(0xb93bd69f7c8084c2), UINT64_C(0xb9bc6816a85c7b17),
    UINT64_C(0xba3d52ca9e4244e1), UINT64_C(0xbabe96f94e73e11a), UINT64_C(0xbb4034e0d430ebad),
    UINT64_C(0xbbc22cbf75d47454), UINT64_C(0xbc447ed3a4f2ea23), UINT64_C(0xbcc72b5bfe781bdd),
    UINT64_C(0xbd4a32974ac54d19), UINT64_C(0xbdcd94c47dcf604a), UINT64_C(0xbe515222b73d15b5),
    UINT64_C(0xbed56af142855f67), UINT64_C(0xbf59df6f970dca36), UINT64_C(0xbfdeafdd5848fbe0),
    UINT64_C(0xc063dc7a55d54652), UINT64_C(0xc0e965868b9b5029), UINT64_C(0xc16f4b4221ecd278),
    UINT64_C(0xc1f58ded6da36bea), UINT64_C(0xc27c2dc8f03f8941), UINT64_C(0xc3032b1558076351),
    UINT64_C(0xc38a86138026127a), UINT64_C(0xc4123f0470cab7b1), UINT64_C(0xc49a56295f47bb31),
    UINT64_C(0xc522cbc3ae3220d3), UINT64_C(0xc5aba014ed80f22f), UINT64_C(0xc634d35edaacbe7f),
    UINT64_C(0xc6be65e360cf306c), UINT64_C(0xc74857e498c2b9bb), UINT64_C(0xc7d2a9a4c94254fe),
    UINT64_C(0xc85d5b6667095d4c), UINT64_C(0xc8e86d6c14f37c15), UINT64_C(0xc973dff8a41cad1b),
    UINT64_C(0xc9ffb34f140158aa), UINT64_C(0xca8be7b2929e8415), UINT64_C(0xcb187d667c921886),
    UINT64_C(0xcba574ae5d3b4041), UINT64_C(0xcc32cdcdeedada50), UINT64_C(0xccc089091ab404bd),
    UINT64_C(0xcd4ea6a3f92cbd66), UINT64_C(0xcddd26e2d1ee9967), UINT64_C(0xce6c0a0a1c07934e),
    UINT64_C(0xcefb505e7e0af001), UINT64_C(0xcf8afa24ce323a87), UINT64_C(0xd01b07a2127e56ac),
    UINT64_C(0xd0ab791b80d8aaa0), UINT64_C(0xd13c4ed67f345f99), UINT64_C(0xd1cd8918a3afb984),
    UINT64_C(0xd25f2827b4b585e4), UINT64_C(0xd2f12c49a91ea1de), UINT64_C(0xd38395c4a853978f),
    UINT64_C(0xd41664df0a6e52af), UINT64_C(0xd4a999df585beca6), UINT64_C(0xd53d350c4bfe9006),
    UINT64_C(0xd5d136acd04f739b), UINT64_C(0xd6659f080180ed02), UINT64_C(0xd6fa6e652d209af3),
    UINT64_C(0xd78fa50bd239a738), UINT64_C(0xd8254343a1772071), UINT64_C(0xd8bb49547d466bad),
    UINT64_C(0xd951b78679f9cdeb), UINT64_C(0xd9e88e21ddeb0d98), UINT64_C(0xda7fcd6f219e2c0c),
    UINT64_C(0xdb1775b6efe43731), UINT64_C(0xdbaf874225fe3344), UINT64_C(0xdc480259d3c01cdf),
    UINT64_C(0xdce0e7473bb40347), UINT64_C(0xdd7a3653d33d3b1b), UINT64_C(0xde13efc942bba970),
    UINT64_C(0xdeae13f165af276e), UINT64_C(0xdf48a3164adafe79), UINT64_C(0xdfe39d8234697d01),
    UINT64_C(0xe07f037f980fa3ff), UINT64_C(0xe11ad5591f30ed38), UINT64_C(0xe1b71359a7032a54),
    UINT64_C(0xe253bdcc40b27cde), UINT64_C(0xe2f0d4fc31856732), UINT64_C(0xe38e5934f300f681),
    UINT64_C(0xe42c4ac2330d05e2), UINT64_C(0xe4caa9efd4189a97), UINT64_C(0xe5697709ed3e5988),
    UINT64_C(0xe608b25cca691617), UINT64_C(0xe6a85c34ec787a42), UINT64_C(0xe74874df0965c84b),
    UINT64_C(0xe7e8fca80c68b5d4), UINT64_C(0xe889f3dd161c6094), UINT64_C(0xe92b5acb7ca45cb9),
    UINT64_C(0xe9cd31c0cbd1dcf5), UINT64_C(0xea6f790ac548f465), UINT64_C(0xeb1230f760a5f245),
    UINT64_C(0xebb559d4cba2d79f), UINT64_C(0xec58f3f16a3ce6f2), UINT64_C(0xecfcff9bd6da4dea),
    UINT64_C(0xeda17d22e26fe947), UINT64_C(0xee466cd594a722eb), UINT64_C(0xeeebcf032c03ea3e),
    UINT64_C(0xef91a3fb1e0ac6e4), UINT64_C(0xf037ec0d176705e6), UINT64_C(0xf0dea788fc110154),
    UINT64_C(0xf185d6bee7748281), UINT64_C(0xf22d79ff2c973eda), UINT64_C(0xf2d5919a563f6f7d),
    UINT64_C(0xf37e1de1271a8391), UINT64_C(0xf4271f2499e3ed7e), UINT64_C(0xf4d095b5e18c0b17),
    UINT64_C(0xf57a81e6695f28bd), UINT64_C(0xf624e407d52c9f9c), UINT64_C(0xf6cfbc6c016e0f0c),
    UINT64_C(0xf77b0b65036eb12e), UINT64_C(0xf826d1452972cad4), UINT64_C(0xf8d30e5efadf36c6),
    UINT64_C(0xf97fc30538610c81), UINT64_C(0xfa2cef8adc156271), UINT64_C(0xfada944319b12bca),
    UINT64_C(0xfb88b1815ea93211), UINT64_C(0xfc374799525a2a58), UINT64_C(0xfce656ded630e655),
    UINT64_C(0xfd95dfa605d2a15f), UINT64_C(0xfe45e2433745695d), UINT64_C(0xfef65f0afb18a3cb),
    UINT64_C(0xffa756521c8daed2),
};

struct spectrogram {
    const struct stft_frames *code;
    struct stft_tables tables;
    int32_t work[2 * SPECTROGRAM_BINS * STFT_BATCH_MOST];
    int16_t padded[STFT_BATCH_MOST][SPECTROGRAM_WINDOW]; /* frames that end after the sound */
    int16_t unused[SPECTROGRAM_BINS];
};

/* Returns -cos(2 pi k / 1024), 0 <= k <= 512. */
static int64_t minus_cos(size_t k)
{
    return k < STFT_QUARTER ? stft_quarter[k] : -(int64_t)stft_quarter[512 - k];
}

/* 1 - cos is exact in Q31; the window takes half of it. */
static uint16_t window_at(size_t n)
{
    int64_t versine = (INT64_C(1) << 31) + minus_cos(n <= 512 ? n : 1024 - n);
    return (uint16_t)((versine + (1 << 16)) >> 17);
}

static uint16_t reversed(size_t n)
{
    uint16_t r = 0;
    for (int bit = 0; bit < 9; bit++)
        r = (uint16_t)(r << 1 | (n >> bit & 1));
    return r;
}

void stft_tables_init(struct stft_tables *t)
{
    for (size_t k = 0; k < SPECTROGRAM_BINS; k++) {
        t->twiddle[k].minus_cos = (int32_t)minus_cos(k);
        t->twiddle[k].minus_sin = (int32_t)minus_cos(k < 256 ? 256 - k : k - 256);
        t->place[k] = reversed(k);
    }
    for (size_t n = 0; n < SPECTROGRAM_WINDOW; n++)
        t->window[n] = window_at(n);
    memcpy(t->threshold, stft_threshold, sizeof stft_threshold);
    t->threshold[STFT_STEPS] = UINT64_MAX;
    uint16_t steps = 0;
    for (uint64_t cell = 0; cell < 512; cell++) {
        while (t->threshold[steps] <= (512 + cell) << 54)
            steps++;
        t->steps[cell] = steps;
    }
}

struct spectrogram *spectrogram_open(enum isa isa, struct err *e)
{
    struct spectrogram *s = err_calloc(1, sizeof *s, e);
    if (!s)
        return NULL;
    s->code = stft_frames_for(isa);
    stft_tables_init(&s->tables);
    return s;
}

void spectrogram_free(struct spectrogram **s)
{
    free(*s);
    *s = NULL;
}

/* Returns the samples from `first` on, padded if the sound ends within the frame. */
static const int16_t *frame_samples(const int16_t *sound, size_t samples, size_t first,
                                    int16_t padded[SPECTROGRAM_WINDOW])
{
    size_t left = first < samples ? samples - first : 0;
    if (left >= SPECTROGRAM_WINDOW)
        return sound + first;
    memset(padded, 0, SPECTROGRAM_WINDOW * sizeof *padded);
    if (left)
        memcpy(padded, sound + first, left * sizeof *padded);
    return padded;
}

void spectrogram_run(struct spectrogram *s, const int16_t *sound, size_t samples, size_t frames,
                     int16_t *out)
{
    const int16_t *in[STFT_BATCH_MOST];
    int16_t *to[STFT_BATCH_MOST];
    for (size_t t = 0; t < frames; t += s->code->batch) {
        for (size_t i = 0; i < s->code->batch; i++) {
            size_t frame = t + i;
            in[i] = frame_samples(sound, samples, frame * SPECTROGRAM_HOP, s->padded[i]);
            to[i] = frame < frames ? out + frame * SPECTROGRAM_BINS : s->unused;
        }
        s->code->run(&s->tables, in, s->work, to);
    }
}
