import { z } from 'zod';
import { defineTools, type Tool } from '../host/contracts/tool.ts';
import { PROFILES_FILE } from '../lib/spawn/profiles.ts';
import { SpawnEnvironment } from '../lib/spawn/settings.ts';
import { taskWithContext } from '../services/spawn/texts.ts';

const Input = z.object({
  task: z
    .string()
    .min(1)
    .max(20_000)
    .describe('What the sub-agent has to do: it sees nothing of this conversation'),
  context: z
    .string()
    .max(20_000)
    .optional()
    .describe('What it has to know for that: facts, words of the conversation, names of files'),
  profile: z
    .string()
    .optional()
    .describe(`The name of a profile in /workspace/global/${PROFILES_FILE}`),
});

/** Sub-agents for the agent of a chat: one that it goes on without, and one that it waits for. */
export const tool = defineTools({
  name: 'spawn',
  settings: SpawnEnvironment,
  needs: ['SPAWN'],
  create({ settings: { SPAWN: isOn } }) {
    if (isOn === undefined) return null;
    const tools = [
      spawnTool(
        'spawn',
        false,
        'Starts a sub-agent on a task of its own and goes on at once. Its result comes later, in a turn of its own. For long work that the chat need not wait for.',
      ),
      spawnTool(
        'spawn_await',
        true,
        'Lets a sub-agent do a task and returns its result. Several calls in one step work side by side.',
      ),
    ];
    return () => tools;
  },
});

function spawnTool(name: string, waits: boolean, description: string): Tool {
  return {
    name,
    description,
    isMainOnly: false,
    repeat: 'once',
    brings: 'outside',
    input: Input,
    run({ callService }, input) {
      const { task, context = '', profile = null } = Input.parse(input);
      const whole = taskWithContext(task, context);
      return callService('spawn', { kind: 'start', task: whole, profile, waits });
    },
  };
}
