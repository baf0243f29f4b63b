import { discoverSetupSteps } from '../../setup/step.ts';

/** Returns the lines that say what `claw setup` can set up, for its help. */
export async function setupNames(): Promise<string> {
  const steps = await discoverSetupSteps();
  const rows = [
    { name: 'model', help: 'what answers, by a key of its provider' },
    ...steps.map(({ name, usage, help }) => ({ name: `${name} ${usage}`.trim(), help })),
    { name: 'service', help: 'the system starts the assistant and keeps it running' },
  ];
  return `\nNames:\n${rows.map(({ name, help }) => `  ${name}\n      ${help}\n`).join('')}`;
}
