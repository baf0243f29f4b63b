import { defineCommand } from '../host/contracts/command.ts';
import { SpawnEnvironment } from '../lib/spawn/settings.ts';

const OFF = 'Sub-agents are off. `npx claw setup spawn` lets the agent start them.';
const USAGE =
  'Say `/spawns` for the list, `/spawns 3` for the result of one, `/spawns stop 3` to end one.';

/** Lists sub-agents, shows the result of one, or ends one. */
export const command = defineCommand({
  scope: 'owner',
  name: 'spawns',
  help: 'list sub-agents at work and done; `/spawns 2` shows a result, `/spawns stop 2` ends one',
  settings: SpawnEnvironment,
  isQuick: true,
  async run({ own, callService }, argument) {
    if (own.SPAWN === undefined) return { kind: 'answer', text: OFF };
    const [, stop, number] = /^(?:(stop)\s+)?#?(\d{1,9})$/i.exec(argument.trim()) ?? [];
    if (number === undefined && argument.trim() !== '') return { kind: 'answer', text: USAGE };
    const request =
      number === undefined
        ? { kind: 'list' }
        : { kind: stop === undefined ? 'show' : 'stop', number: Number(number) };
    return { kind: 'answer', text: String(await callService('spawn', request)) };
  },
});
