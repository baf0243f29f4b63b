import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { problemOfAddress } from '../lib/setting-values.ts';
import { withFolder } from '../lib/voice/audio-files.ts';
import { CLIP_WORDS, clip } from '../lib/voice/clip.ts';
import { listen } from '../lib/voice/listen.ts';
import { readOpus } from '../lib/voice/opus.ts';
import {
  listeningBy,
  speakingBy,
  VoiceEnvironment,
  type VoiceSettings,
} from '../lib/voice/settings.ts';
import { speak } from '../lib/voice/speak.ts';
import {
  askTogether,
  defineSetup,
  type OwnSettings,
  type SetupContext,
  type SetupOutcome,
  SetupRefused,
} from './step.ts';

const TRY_MS = 120_000;
const PROPOSED_URL = 'https://api.openai.com/v1';
const HEAR_EXAMPLE = 'whisper-cli -m /opt/models/ggml-base.bin -nt -f {wav}';
const SPEAK_EXAMPLE = 'flite -voice slt -f {txt} -o {wav}';

type Context = SetupContext & OwnSettings<typeof VoiceEnvironment.shape>;
type Name = keyof Context['settings'];
type Values = Readonly<Record<string, string>>;

/** Sets up what hears voice notes and what speaks answers, and tries both. */
export const setup = defineSetup({
  name: 'voice',
  help: 'voice notes become text, and answers are spoken: by a server or a program of yours',
  settings: VoiceEnvironment,
  currentState({ settings }) {
    const listening = listeningBy(settings);
    if (listening === null) return null;
    const speaking = speakingBy(settings);
    const said = speaking === null ? 'nothing speaks' : `${wayOf(speaking)} speaks`;
    return `${wayOf(listening)} hears, ${said}`;
  },
  run: setUpVoice,
});

async function setUpVoice(context: Context): Promise<SetupOutcome> {
  const hearing = await askHearing(context);
  const speaking = await askSpeaking(context, hearing);
  // What is not chosen is emptied where it is set: it would go before what is.
  const others = Object.entries(EMPTY).filter(([name]) => context.settings[name as Name]);
  const values = { ...Object.fromEntries(others), ...hearing, ...speaking };
  context.write(values);
  const after = context.settingsWith(values);
  const summary = `Voice notes become text, ${speakingBy(after) === null ? 'and answers stay text.' : 'and `/voice on` in a chat has answers spoken.'}`;
  return {
    summary,
    data: { hears: listeningBy(after)?.kind, speaks: speakingBy(after)?.kind ?? null },
  };
}

const EMPTY: Values = {
  VOICE_COMMAND: '',
  VOICE_URL: '',
  VOICE_KEY: '',
  VOICE_SPEECH_COMMAND: '',
  VOICE_SPEECH_URL: '',
  VOICE_SPEECH_KEY: '',
};

async function askHearing(context: Context): Promise<Values> {
  const way = await askWord(context, 'What hears voice notes: a server, or a program of yours?', [
    'server',
    'program',
  ]);
  if (way === 'program') {
    const message = `The program, with {wav} or {file} where the recording stands, such as ${HEAR_EXAMPLE}`;
    return await askTried(context, {
      message,
      initial: context.settings.VOICE_COMMAND,
      values: (typed) => ({ VOICE_COMMAND: typed }),
      trial: tryHearing,
    });
  }
  return await askServer(context, 'VOICE_KEY', tryHearing, async (answered) => ({
    VOICE_URL: await askAddress(
      context,
      'The server’s address, up to /v1',
      answered['VOICE_URL'] ?? PROPOSED_URL,
    ),
    VOICE_MODEL: await askModel(
      context,
      'The model that hears',
      answered['VOICE_MODEL'] ?? context.settings.VOICE_MODEL,
    ),
  }));
}

async function askSpeaking(context: Context, hearing: Values): Promise<Values> {
  const hasServer = hearing['VOICE_URL'] !== undefined;
  const words = hasServer ? ['same', 'server', 'program', 'no'] : ['program', 'server', 'no'];
  const way = await askWord(
    context,
    `What speaks answers: ${hasServer ? 'the same server, another server' : 'a program, a server'}${hasServer ? ', a program' : ''}, or nothing (no)?`,
    words,
  );
  if (way === 'no') return {};
  if (way === 'program') {
    return await askTried(context, {
      message: `The program, which reads its text from {txt} or its input and writes {wav} or {ogg}, such as ${SPEAK_EXAMPLE}`,
      initial: context.settings.VOICE_SPEECH_COMMAND,
      values: (typed) => ({ VOICE_SPEECH_COMMAND: typed }),
      trial: trySpeaking,
    });
  }
  const modelAfter = (answered: Values) =>
    askModel(
      context,
      'The model that speaks',
      answered['VOICE_SPEECH_MODEL'] ?? context.settings.VOICE_SPEECH_MODEL,
    );
  if (way === 'server') {
    return await askServer(context, 'VOICE_SPEECH_KEY', trySpeaking, async (answered) => ({
      ...hearing,
      VOICE_SPEECH_URL: await askAddress(
        context,
        'Its address, up to /v1',
        answered['VOICE_SPEECH_URL'] ?? PROPOSED_URL,
      ),
      VOICE_SPEECH_MODEL: await modelAfter(answered),
    }));
  }
  const named = { ...hearing, VOICE_SPEECH_MODEL: await modelAfter({}) };
  const problem = await trySpeaking(context, named);
  if (problem !== null) throw new SetupRefused(`${problem} Nothing is written.`);
  return named;
}

type Trial = (context: Context, values: Values) => Promise<string | null>;

/** Asks for the key of a server, and again until the server has worked; `before` asks for the rest of it. */
async function askServer(
  context: Context,
  key: 'VOICE_KEY' | 'VOICE_SPEECH_KEY',
  trial: Trial,
  before: (answered: Values) => Promise<Values>,
): Promise<Values> {
  const { before: server, last } = await askTogether(
    context.ask,
    (answered: Values | null) => before(answered ?? {}),
    (named) => ({
      message: 'The key for it; an empty line for a server without one',
      isSecret: true,
      check: (line) => trial(context, { ...named, [key]: line.trim() }),
    }),
  );
  return { ...server, [key]: last.trim() };
}

type Tried = {
  readonly message: string;
  readonly initial: string | undefined;
  readonly values: (typed: string) => Values;
  readonly trial: Trial;
};

/** Asks for the line of a program, and again until that has worked. */
async function askTried(
  context: Context,
  { message, initial, values, trial }: Tried,
): Promise<Values> {
  const typed = await context.ask({
    message,
    ...(initial === undefined ? {} : { initial }),
    check: (line) => trial(context, values(line.trim())),
  });
  return values(typed.trim());
}

async function askWord(
  context: Context,
  message: string,
  words: readonly string[],
): Promise<string> {
  const list = `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
  const typed = await context.ask({
    message,
    proposed: words[0] ?? '',
    check: (line) => (words.includes(line.trim().toLowerCase()) ? null : `Say ${list}.`),
  });
  return typed.trim().toLowerCase();
}

function askAddress(context: Context, message: string, proposed: string): Promise<string> {
  return context.ask({ message, proposed, check: (line) => problemOfAddress(line.trim()) });
}

function askModel(context: Context, message: string, proposed: string): Promise<string> {
  const check = (line: string) => (line.trim() === '' ? 'Type the name of the model.' : null);
  return context.ask({ message, proposed, check });
}

/** Has the clip heard; says in a sentence what went wrong. */
async function tryHearing(context: Context, values: Values): Promise<string | null> {
  const by = listeningBy(withOnly(context, values));
  if (by === null) return 'Type the program, as you would in a shell.';
  context.say('A short recording is heard …');
  try {
    const seconds = readOpus(clip())?.seconds ?? 0;
    const words = await withFolder(async (folder) => {
      const path = join(folder, 'clip.ogg');
      await writeFile(path, clip());
      return await listen(by, { path, seconds }, means(context));
    });
    context.say(`It says “${CLIP_WORDS}”; heard was “${words}”.`);
    const wanted = CLIP_WORDS.split(' ');
    const found = wanted.filter((word) => words.toLowerCase().includes(word)).length;
    return found * 2 >= wanted.length ? null : 'Those are other words: is it a model for English?';
  } catch (error) {
    return sentence(error);
  }
}

/** Has a word spoken; says in a sentence what went wrong. */
async function trySpeaking(context: Context, values: Values): Promise<string | null> {
  const by = speakingBy(withOnly(context, values));
  if (by === null) return 'Type the program, as you would in a shell.';
  context.say('A few words are spoken …');
  try {
    const { seconds } = await speak(by, 'Hello, I am here.', means(context));
    context.say(`It made a recording of ${seconds.toFixed(1)} s.`);
    return null;
  } catch (error) {
    return sentence(error);
  }
}

function withOnly({ settingsWith }: Context, values: Values): VoiceSettings {
  return settingsWith({ ...EMPTY, ...values });
}

function means({ signal }: Context) {
  const pause = (ms: number, until: AbortSignal) =>
    delay(ms, undefined, { signal: until }).catch(() => {});
  return { limitMs: TRY_MS, signal, pause };
}

function sentence(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return `That did not work: ${text.replace(/\.$/, '')}.`;
}

function wayOf({ kind }: { readonly kind: 'server' | 'program' }): string {
  return `a ${kind}`;
}
