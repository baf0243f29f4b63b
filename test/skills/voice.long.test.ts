import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type * as assistantModule from '../../src/testing/assistant.ts';
import type * as linkedModule from '../../src/testing/whatsapp/linked-channel.ts';
import type * as mediaModule from '../../src/testing/whatsapp/media.ts';
import type * as serverModule from '../../src/testing/whatsapp/server.ts';
import { type Clone, cloneWithoutProof, runThere } from '../story/clone.ts';

// Debian's flite speaks, pocketsphinx hears, sox measures, opus-tools packs. `.ci/run` installs them.
const PROGRAMS = ['flite', 'sox', 'soxi', 'opusenc', 'opusdec', 'pocketsphinx_continuous'];
const MISSING = PROGRAMS.filter(
  (name) => spawnSync('sh', ['-c', `command -v ${name}`]).status !== 0,
);
const HEARS = 'pocketsphinx_continuous -infile {wav} -logfn /dev/null';
const SPEAKS = 'flite -voice kal16 -f {txt} -o {wav}';
const ASKED = 'please remember to buy some milk and bread';
const ANSWER = 'the weather is fine today and we go swimming';
const ANNA = { phoneNumber: '4915111111111', lidNumber: '100000000001', name: 'Anna' };
const MINUTES = 5 * 60_000;

/** The skill's additions to the channels' kit, and the channel that it changes. */
type Spoken = { openSpokenAnswers(settings: object, context: object): never };
type WhatsApp = typeof import('../../src/channels/whatsapp.ts');

if (MISSING.length > 0 && process.env['CLAW_REQUIRE_ENGINE'] === '1') {
  test('has its programs', () => expect(MISSING).toEqual([]));
}

let clone: Clone;
let folder: string;

beforeAll(async () => {
  if (MISSING.length > 0) return;
  clone = cloneWithoutProof();
  folder = mkdtempSync('/tmp/claw-voice-');
  const run = await clone.claw('apply', 'voice');
  expect(run).toMatchObject({ code: 0, json: { outcome: 'done' } });
}, MINUTES);
afterAll(async () => {
  await clone?.[Symbol.asyncDispose]();
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
});

const from = <T>(path: string): Promise<T> => import(clone.path(path));

/** Counts the words of a sentence that were understood, in their order or not. */
function wordsIn(heard: string, sentence: string): number {
  const all: readonly string[] = heard.toLowerCase().match(/[a-z']+/g) ?? [];
  return sentence.split(' ').filter((word) => all.includes(word)).length;
}

/** Has the sentence recorded as a phone would send it. */
function recorded(sentence: string): Buffer {
  const [wav, ogg] = [join(folder, 'said.wav'), join(folder, 'said.ogg')];
  execFileSync('flite', ['-voice', 'rms', '-t', sentence, '-o', wav]);
  execFileSync('opusenc', ['--quiet', '--bitrate', '24', wav, ogg]);
  return readFileSync(ogg);
}

/** Unpacks a voice note, and measures and hears it with programs that the assistant did not run. */
function examined(note: Buffer) {
  const [ogg, wav] = [join(folder, 'answer.ogg'), join(folder, 'answer.wav')];
  writeFileSync(ogg, note);
  execFileSync('opusdec', ['--quiet', '--rate', '16000', '--force-wav', ogg, wav]);
  const seconds = Number(execFileSync('soxi', ['-D', wav], { encoding: 'utf8' }));
  const { stderr } = spawnSync('sox', [wav, '-n', 'stat'], { encoding: 'utf8' });
  const loudness = Number(/RMS\s+amplitude:\s+([\d.]+)/.exec(stderr)?.[1]);
  const heard = execFileSync('pocketsphinx_continuous', ['-infile', wav, '-logfn', '/dev/null'], {
    encoding: 'utf8',
  });
  return { seconds, loudness, heard };
}

test.skipIf(MISSING.length > 0)(
  'set-up has a recording heard and words spoken, and writes what has worked',
  async () => {
    const lines = ['program', HEARS, 'program', SPEAKS].map((line) => `${line}\n`).join('');
    const claw: [string, ...string[]] = [clone.nodePath, 'bin/claw.js', 'setup', 'voice'];
    const set = await runThere(clone.root, claw, lines);
    expect(set.code, set.stderr).toBe(0);
    expect(`${set.stdout}${set.stderr}`).toContain('It says “please buy some milk and bread”');
    expect(clone.read('.env')).toContain(`VOICE_COMMAND='${HEARS}'`);
  },
  MINUTES,
);

test.skipIf(MISSING.length > 0)(
  'a sentence that is spoken on WhatsApp is understood, and its answer can be heard and understood',
  async () => {
    const { TestProject, answers } = await from<typeof assistantModule>('src/testing/assistant.ts');
    const { startWhatsAppServer } = await from<typeof serverModule>(
      'src/testing/whatsapp/server.ts',
    );
    const { openMedia } = await from<typeof mediaModule>('src/testing/whatsapp/media.ts');
    const { LinkedChannel, endpointOf, CLOCK } = await from<typeof linkedModule>(
      'src/testing/whatsapp/linked-channel.ts',
    );
    const { WhatsAppChannel } = await from<WhatsApp>('src/channels/whatsapp.ts');
    const { openSpokenAnswers } = await from<Spoken>('src/channels/kit/spoken-answers.ts');

    using project = new TestProject();
    const dataDir = join(project.dir, 'data');
    const server = await startWhatsAppServer();
    const anna = server.person(ANNA);
    await new LinkedChannel(server, {}, {}, dataDir).pair();
    const environment = { VOICE_COMMAND: HEARS, VOICE_SPEECH_COMMAND: SPEAKS };
    const log = { info() {}, warn() {} };
    const spoken = openSpokenAnswers(environment, { dataDir, log, clock: CLOCK });
    const settings = { assistantName: 'Andy', dataDir, owner: ANNA.phoneNumber, spoken };
    const channel = new WhatsAppChannel({ settings, log, clock: CLOCK }, endpointOf(server));
    const prompts: string[] = [];
    const assistant = await project.start({
      environment,
      over: { channels: [channel] },
      agent: async ({ prompt }) => {
        prompts.push(prompt);
        return answers(`**${ANSWER}**`);
      },
    });
    await vi.waitFor(() => expect(channel.status().state).toBe('connected'), MINUTES);

    await server.say(anna, '/voice on');
    expect((await anna.next()).text).toContain('Answers in this chat are spoken');
    const bytes = recorded(ASKED);
    const sound = await server.upload({ type: 'audio', bytes, mimetype: 'audio/ogg; codecs=opus' });
    await server.say(anna, { audioMessage: { ...sound, ptt: true, seconds: 3 } });
    expect((await anna.next()).text).toBe(`*${ANSWER}*`);
    const { audioMessage } = (await anna.next()).message;
    expect(audioMessage).toMatchObject({ ptt: true, mimetype: 'audio/ogg; codecs=opus' });
    expect(prompts).toHaveLength(1);
    expect(prompts[0]).toContain('[voice: spoken in a voice note');
    const understood = wordsIn(prompts[0] ?? '', ASKED);
    expect(understood, prompts[0]).toBeGreaterThanOrEqual(6);

    const note = await openMedia(server.filesUrl, audioMessage ?? {}, 'audio');
    const { seconds, loudness, heard } = examined(note);
    expect(seconds).toBeGreaterThan(1.5);
    expect(seconds).toBeLessThan(8);
    expect(Math.abs(seconds - (audioMessage?.seconds ?? 0))).toBeLessThan(1);
    expect(loudness).toBeGreaterThan(0.01);
    expect(wordsIn(heard, ANSWER), heard).toBeGreaterThanOrEqual(6);
    console.log(
      `voice: ${understood} of 8 words heard; the answer lasts ${seconds.toFixed(1)} s, “${heard.trim()}”`,
    );
    await assistant.stop();
    await server.close();
  },
  MINUTES,
);
