import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { defineVerb, VerbError } from '../verb.ts';

/** Prints a link that lets a browser in, and opens it where this machine has a screen. */
export const verb = defineVerb({
  name: 'dashboard',
  help: 'open the page of the assistant in a browser',
  options: [
    { flags: '--scope <scope>', help: 'read, talk or admin (default) for what the browser may do' },
    { flags: '--no-open', help: 'only print the link' },
  ],
  create: () => async (call) => {
    if (!(await call.isAssistantRunning())) {
      throw new VerbError('stopped', 'The assistant does not run. Start it: npm start.');
    }
    const scope = String(call.options['scope'] ?? 'admin');
    if (!['read', 'talk', 'admin'].includes(scope)) {
      throw new VerbError('usage', 'Say --scope read, --scope talk or --scope admin.');
    }
    const said = (await call.say(`/dashboard ${scope}`)).join('\n');
    const links = said.match(/https?:\/\/\S+\/dashboard#[\w-]{43}/g) ?? [];
    const [link] = links;
    const own = links.find((one) => one.startsWith('http://127.0.0.1:'));
    if (link === undefined || own === undefined) {
      throw new VerbError('failed', 'The assistant made no link. `claw logs` may say why.');
    }
    // The assistant's answer was printed, with the links in it.
    if (call.options['open'] !== false && !call.isJson) await open(own);
    return { data: { links }, lines: [] };
  },
});

/** Opens an address in the browser of the desktop. Where there is none, the link was printed. */
async function open(address: string): Promise<void> {
  const program = process.platform === 'darwin' ? 'open' : 'xdg-open';
  const child = spawn(program, [address], { stdio: 'ignore', detached: true });
  child.unref();
  await Promise.race([once(child, 'spawn'), once(child, 'error')]);
}
