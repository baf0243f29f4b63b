import { discoverProviders } from '../../model/provider.ts';
import { discoverSetupSteps } from '../../setup/step.ts';
import { STARTER } from './starter.ts';

/** Returns the lines that say what `claw setup` can set up, for its help. */
export async function setupNames(): Promise<string> {
  const [steps, providers] = await Promise.all([discoverSetupSteps(), discoverProviders()]);
  const rows = [
    { name: 'model', help: 'the language model that answers you' },
    STARTER,
    ...steps.map(({ name, usage, help }) => ({ name: `${name} ${usage}`.trim(), help })),
    { name: 'service', help: 'the system starts the assistant and keeps it running' },
  ];
  const names = rows.map(({ name, help }) => `  ${name}\n      ${help}\n`).join('');
  const whose = providers.map(({ name, setup }) => `  ${name}\n      ${setup.label}\n`).join('');
  return `\nNames:\n${names}\nProviders:\n${whose}`;
}
