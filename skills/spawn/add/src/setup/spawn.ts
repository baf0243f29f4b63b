import { describeLimits, SpawnEnvironment } from '../lib/spawn/settings.ts';
import { defineSetup } from './step.ts';

/** Asks whether the agent may start sub-agents, and how many for how long. */
export const setup = defineSetup({
  name: 'spawn',
  help: 'whether the agent may start sub-agents, and how many for how long',
  settings: SpawnEnvironment,
  currentState: ({ settings }) => (settings.SPAWN === undefined ? null : describeLimits(settings)),
  async run({ ask, write, settings, settingsWith }) {
    const word = await ask({
      message: 'May the agent start sub-agents (on or off)',
      proposed: 'on',
      check: (typed) => (['on', 'off'].includes(typed) ? null : 'Type on or off.'),
    });
    if (word === 'off') {
      write({ SPAWN: 'off' });
      return { summary: 'Sub-agents are off.', data: { SPAWN: 'off' } };
    }
    const most = await ask({
      message: 'How many at once',
      proposed: String(settings.SPAWN_AT_ONCE),
      check: (typed) => problemOf('SPAWN_AT_ONCE', typed),
    });
    const minutes = await ask({
      message: 'For how many minutes at most',
      proposed: String(settings.SPAWN_MINUTES),
      check: (typed) => problemOf('SPAWN_MINUTES', typed),
    });
    const chosen = { SPAWN: 'on', SPAWN_AT_ONCE: most, SPAWN_MINUTES: minutes };
    write(chosen);
    return {
      summary: `The agent may start sub-agents, ${describeLimits(settingsWith(chosen))}. They spend from the budget of their chat.`,
      data: chosen,
    };
  },
});

function problemOf(name: 'SPAWN_AT_ONCE' | 'SPAWN_MINUTES', typed: string): string | null {
  const read = SpawnEnvironment.shape[name].safeParse(typed);
  return read.success ? null : `It ${read.error.issues[0]?.message}.`;
}
