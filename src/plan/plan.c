#include "plan.h"

#include "outputs.h"
#include "shard.h"
#include "update.h"

bool plan_films(const struct options *o, struct inputs *in, struct err *e)
{
    return inputs_expand(o, in, e) && shard_split(o, in, e) && update_leave_out(o, in, e) &&
           outputs_check(o, in, e);
}
