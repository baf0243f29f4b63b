// `claw fleet` in a process of its own, which ends at once, as by a kill, when it says a certain line.
// Its words: the project's folder, that line or an empty word, then what stands after `claw fleet`.
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { verb } from '../../../src/verbs/fleet.ts';

const [projectDir = '', killAt = '', ...args] = process.argv.slice(2);
const { positionals, values } = parseArgs({
  args,
  allowPositionals: true,
  options: {
    watch: { type: 'string' },
    canary: { type: 'string' },
    env: { type: 'string' },
    deleteData: { type: 'boolean' },
    untilAsked: { type: 'boolean' },
  },
});
const dataDir = join(projectDir, 'data');
const opened = verb.open({ FLEET_MEMORY: '256m' }, { projectDir, dataDir, now: Date.now });
const run = opened.kind === 'made' ? opened.value : null;
const stop = new AbortController();
process.once('SIGINT', () => stop.abort());
try {
  const end = await run?.({
    words: positionals,
    options: values,
    isJson: true,
    columns: null,
    signal: stop.signal,
    stdin: process.stdin,
    stdout: process.stdout,
    isAssistantRunning: async () => false,
    say: async () => [],
    confirm: async () => true,
    consent: async () => 'yes',
    progress(text) {
      process.stderr.write(`${text}\n`);
      if (killAt !== '' && text.startsWith(killAt)) process.kill(process.pid, 'SIGKILL');
    },
  });
  process.stdout.write(JSON.stringify({ ...end, error: null }));
} catch (error) {
  process.stdout.write(JSON.stringify({ data: null, error: String(Object(error).message) }));
}
