import { z } from 'zod';
import type { ServiceContext } from '../../../host/contracts/service.ts';
import { ApiProblem, defineApi, reads } from '../api.ts';

const Skill = z.string().regex(/^[a-z0-9][a-z0-9-]{0,63}$/);
const Path = z.string().min(1).max(400).regex(/^[^-]/);

/** What the engine knows of the code; the commands that change it are said in the chat. */
export const api = defineApi({
  name: 'code',
  actions: {
    overview: reads(z.object({}), async (_, { context }) => {
      const [skills, status, log] = await Promise.all([
        read(context, ['list', '--available']),
        read(context, ['status']),
        read(context, ['log']),
      ]);
      return { skills: skills.data ?? [], status: status.data, log: log.data ?? [] };
    }),
    plan: reads(
      z.object({ verb: z.enum(['apply', 'remove', 'upgrade']), skill: Skill }),
      ({ verb, skill }, { context }) => context.readClaw(['plan', verb, skill, '--diff']),
    ),
    show: reads(
      z.object({ skill: Skill }),
      async ({ skill }, { context }) => (await told(context, ['show', skill])).data,
    ),
    why: reads(
      z.object({ path: Path }),
      async ({ path }, { context }) => (await told(context, ['why', path])).data,
    ),
    edits: reads(z.object({}), async (_, { context }) => (await told(context, ['diff'])).data),
    conflicts: reads(
      z.object({}),
      async (_, { context }) => (await read(context, ['conflicts'])).data,
    ),
  },
});

type Question = Parameters<ServiceContext['readClaw']>[0];

/** An engine that knows nothing yet has no state to tell of, which is no problem. */
async function read({ readClaw }: ServiceContext, args: Question) {
  return await readClaw(args);
}

async function told(context: ServiceContext, args: Question) {
  const result = await context.readClaw(args);
  if (result.error !== null) throw new ApiProblem(result.error.message);
  return result;
}
