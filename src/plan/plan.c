#include "plan.h"

#include "outputs.h"
#include "shard.h"
#include "update.h"

bool plan_films(const struct plan *plan, struct inputs *in, struct err *e)
{
    return inputs_expand(&plan->inputs, &plan->outputs, in, e) &&
           shard_split(&plan->inputs, in, e) && update_leave_out(plan, in, e) &&
           outputs_check(plan, in, e);
}
