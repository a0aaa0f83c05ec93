/* test_cache_owner.c - whose folder and whose entries are believed. Root alone can make others'. */
#include <grp.h>
#include <sys/stat.h>

#include "test.h"
#include "folder.h"
#include "cache/cache_store.h"

enum { STRANGER = 12345, GROUP = 23456 };

TEST(own_folder)
{
    struct err e = ERR_INIT;
    struct cache_owner o;
    assert_true(cache_owner_read(&o, "/nowhere/at/all", &e));
    assert_false(o.shared);
    assert_int_equal(chmod(folder, 0700), 0);
    assert_true(cache_owner_read(&o, folder, &e));
    assert_false(o.shared);
    assert_int_equal(cache_owner_mode(&o, 4), 0600);
    assert_int_equal(chmod(folder, 02770), 0);
    assert_true(cache_owner_read(&o, folder, &e));
    assert_true(o.shared);
    assert_int_equal(cache_owner_mode(&o, 4), 0640);
    assert_int_equal(cache_owner_mode(&o, 6), 0660);
    /* Where everybody may write, a file's group is the folder's, whoever made it. */
    assert_int_equal(chmod(folder, 03777), 0);
    assert_true(cache_owner_read(&o, folder, &e));
    assert_false(o.shared);
}

TEST(files)
{
    struct stat own = {.st_uid = geteuid(), .st_gid = GROUP}, root = {.st_uid = 0, .st_gid = GROUP},
                stranger = {.st_uid = STRANGER, .st_gid = STRANGER},
                colleague = {.st_uid = STRANGER, .st_gid = GROUP};
    struct cache_owner alone = {.group = GROUP}, shared = {.shared = true, .group = GROUP};
    assert_true(cache_owner_trusts(&alone, &own) && cache_owner_trusts(&alone, &root));
    assert_false(cache_owner_trusts(&alone, &stranger));
    assert_false(cache_owner_trusts(&alone, &colleague));
    assert_false(cache_owner_trusts(&shared, &stranger));
    assert_true(cache_owner_trusts(&shared, &colleague));
}

static bool reads(uid_t user, mode_t mode)
{
    struct cache_owner o;
    assert_int_equal(chown(folder, user, GROUP), 0);
    assert_int_equal(chmod(folder, mode), 0);
    return cache_owner_read(&o, folder, NULL);
}

TEST(folders_of_others)
{
    if (geteuid() != 0)
        skip();
    gid_t groups[64];
    int count = getgroups(64, groups);
    assert_true(count >= 0);
    assert_true(reads(0, 0700));
    assert_false(reads(STRANGER, 0700));
    assert_false(reads(STRANGER, 01777));
    assert_false(reads(STRANGER, 02770)); /* shared, but with a group that this process is not in */
    assert_int_equal(setgroups(1, &(gid_t){GROUP}), 0);
    bool shared = reads(STRANGER, 02770), open = reads(STRANGER, 02777);
    assert_int_equal(setgroups((size_t)count, groups), 0);
    assert_true(shared);
    assert_false(open);
    assert_true(reads(0, 0700));
}

/* A link to an own folder that a stranger can lead elsewhere. */
TEST(links)
{
    if (geteuid() != 0)
        skip();
    static const char link[] = "link";
    struct cache_owner o;
    assert_int_equal(symlink(folder, link), 0);
    bool own = cache_owner_read(&o, link, NULL);
    bool given = lchown(link, STRANGER, STRANGER) == 0, foreign = cache_owner_read(&o, link, NULL);
    unlink(link);
    assert_true(own && given);
    assert_false(foreign);
}

TEST_FIXTURE(enter, leave)
