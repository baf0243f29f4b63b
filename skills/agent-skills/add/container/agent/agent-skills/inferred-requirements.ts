/** A script that lies beside a SKILL.md. */
export type Script = { readonly language: ScriptLanguage; readonly text: string };

/** What the text of an ability and its scripts ask for, whatever its front matter declares. Each list is without doubles, and short. */
export type Asks = {
  /** Programs that its commands start. */
  readonly programs: readonly string[];
  /** Packages and programs that it has installed, as it says it. */
  readonly installs: readonly string[];
  /** Hosts that its commands or links name. */
  readonly hosts: readonly string[];
  /** Names of keys, tokens and passwords. */
  readonly secrets: readonly string[];
  /** Places outside the chat's folders. */
  readonly files: readonly string[];
  /** Ways in which it sends something to others. */
  readonly sends: readonly string[];
};

/** The most of each kind that are told. */
const MOST = 12;
const LONGEST = 80;

/**
 * Reads what a SKILL.md and the scripts beside it ask for, by their commands, links and words. It is a look at texts, and
 * no proof.
 */
export function asksOf(body: string, scripts: readonly Script[] = []): Asks {
  const { shell, other, spans, links } = partsOf(body);
  const textsOf = (wanted: (language: ScriptLanguage) => boolean) =>
    scripts.filter(({ language }) => wanted(language)).map(({ text }) => text);
  const shellScripts = textsOf((language) => language === 'shell');
  const programs = textsOf((language) => language !== 'shell');
  const code = [...shell, ...spans, ...shellScripts, ...programs];
  const commands = [
    ...[...shell, ...spans.filter(isCommand)].flatMap(commandsIn),
    ...shellScripts.flatMap(commandsOfScript),
    ...programs.flatMap((text) => matches(text, STARTED).flatMap(commandsIn)),
  ];
  const interpreters = scripts.map(({ language }) => (language === 'shell' ? 'sh' : language));
  const named = [...code, ...other, ...links].join('\n');
  const whole = [body, ...shellScripts, ...programs].join('\n');
  return {
    programs: few([
      ...commands.map(programOf).filter((name) => name !== null),
      ...interpreters.filter((name) => name !== 'sh'),
    ]),
    installs: few(commands.flatMap((command) => command.match(INSTALL)?.[0] ?? [])),
    hosts: few(
      matches(named, HOST).filter((host) => !/^(?:localhost|127\.|.*\bexample\b)/.test(host)),
    ),
    secrets: few(matches(whole, WORD).filter((word) => SECRET.test(word))),
    files: few(matches(code.join('\n'), OUTSIDE)),
    sends: few([
      ...SENDING.flatMap(([what, words]) => (words.test(whole) ? [what] : [])),
      ...matches(whole, SENDING_TOOL),
    ]),
  };
}

const FENCE = /^ {0,3}(`{3,}|~{3,})[ \t]*([\w-]*)/;
const SHELLS = new Set(['bash', 'sh', 'shell', 'zsh', 'console', 'terminal', 'shell-session']);

/** Blocks of commands, other blocks, words marked as code, and links. */
type Parts = {
  readonly shell: readonly string[];
  readonly other: readonly string[];
  readonly spans: readonly string[];
  readonly links: readonly string[];
};

/** Takes a text apart line by line, so that no text is read twice. */
function partsOf(body: string): Parts {
  const shell: string[] = [];
  const other: string[] = [];
  const prose: string[] = [];
  let block: {
    readonly fence: string;
    readonly language: string;
    readonly lines: string[];
  } | null = null;
  const close = () => {
    if (block === null) return;
    const { language, lines } = block;
    if (SHELLS.has(language)) shell.push(lines.join('\n'));
    else other.push(lines.join('\n'));
    // A block that does not say what it holds may be a letter or a list.
    if (language === '') {
      shell.push(...lines.filter((line) => /^\s*\$ /.test(line) || isCommand(line.trim())));
    }
    block = null;
  };
  for (const line of body.split('\n')) {
    const [, fence = '', language = ''] = FENCE.exec(line) ?? [];
    if (block !== null && fence.startsWith(block.fence) && line.trim() === fence) close();
    else if (block !== null) block.lines.push(line);
    else if (fence !== '') block = { fence, language: language.toLowerCase(), lines: [] };
    else prose.push(line);
  }
  close();
  const text = prose.join('\n');
  const spans = matches(text, /`([^`\n]{2,300})`/g);
  return { shell, other, spans, links: matches(text, /(https?:\/\/[^\s<>)"'`\]]{1,300})/g) };
}

/** Takes a script of a shell apart; its own functions are no programs. */
function commandsOfScript(text: string): readonly string[] {
  const functions = new Set(matches(text, FUNCTION));
  return commandsIn(text.replace(FUNCTION, '\n')).filter((command) => {
    const name = programOf(command);
    return name === null || !functions.has(name);
  });
}

const FUNCTION = /^[ \t]*(?:function[ \t]+)?([\w-]{1,60})[ \t]*\(\)[ \t]*\{?/gm;

/** A program that a script of another language starts. */
const STARTED =
  /\b(?:subprocess\.\w{1,20}|os\.(?:system|popen|exec\w{0,4})|exec(?:File)?(?:Sync)?|spawn(?:Sync)?|execa|system|popen|Popen)\s*\(\s*\[?\s*["'`]([^"'`\n]{1,200})["'`]/g;

/** The program that runs a script of this kind. */
export type ScriptLanguage = 'shell' | 'python3' | 'node' | 'ruby' | 'perl';

const LANGUAGES: Readonly<Record<string, ScriptLanguage>> = {
  sh: 'shell',
  bash: 'shell',
  zsh: 'shell',
  py: 'python3',
  js: 'node',
  mjs: 'node',
  cjs: 'node',
  ts: 'node',
  rb: 'ruby',
  pl: 'perl',
};

/** Returns the language of a script by the end of its name; null for what is none. */
export function languageByName(name: string): ScriptLanguage | null {
  const [, end = ''] = /\.([a-z]{2,4})$/i.exec(name) ?? [];
  return LANGUAGES[end.toLowerCase()] ?? null;
}

/** Returns the language of a script without such a name, by its first line; null for what is none. */
export function languageByHead(text: string): ScriptLanguage | null {
  const [line = ''] = text.slice(0, 200).split('\n', 1);
  if (!line.startsWith('#!')) return null;
  const [first = '', ...more] = line.slice(2).trim().split(/\s+/);
  const path = first.endsWith('/env') ? more.find((word) => !word.startsWith('-')) : first;
  const program = path?.split('/').at(-1) ?? '';
  if (/^(?:ba|z|da|k)?sh$/.test(program)) return 'shell';
  const [name = ''] = /^[a-z]+/.exec(program) ?? [];
  return INTERPRETERS[name] ?? null;
}

const INTERPRETERS: Readonly<Record<string, ScriptLanguage>> = {
  python: 'python3',
  node: 'node',
  ruby: 'ruby',
  perl: 'perl',
};

/** Takes a text of commands apart; quoted words, comments and what is fed to a command are no commands. */
function commandsIn(text: string): readonly string[] {
  return withoutFed(text)
    .replace(/\\\n/g, ' ')
    .replace(/(^|\s)#[^\n]*/g, '$1')
    .replace(/'[^']*'|"(?:\\.|[^"\\])*"/g, '""')
    .split(/\n|&&|\|\|?|;|\$\(/)
    .map((line) => line.replace(/^\s*(?:[$>%]\s+)?/, '').trim())
    .filter((line) => line !== '' && line.length < 2_000);
}

/** Leaves out the lines that are the input of a command. */
function withoutFed(text: string): string {
  let end: string | null = null;
  const lines: string[] = [];
  for (const line of text.split('\n')) {
    if (end !== null) {
      if (line.trim() === end) end = null;
      continue;
    }
    lines.push(line);
    end = /<<-?\s*['"]?(\w{1,30})/.exec(line)?.[1] ?? null;
  }
  return lines.join('\n');
}

/** Words before a program's name. */
const BEFORE =
  /^(?:(?:sudo|env|time|nohup|exec|command|xargs|then|do|else)\s+|[A-Za-z_]\w*=\S*\s+)+/;
const PROGRAM = /^[A-Za-z][\w.+-]{0,30}(?=\s|$)/;
const KEYWORDS = new Set(
  'if then else elif fi for do done while until case esac in function return exit cd echo export set unset read local source test true false printf shift eval break continue wait trap'.split(
    ' ',
  ),
);

function programOf(command: string): string | null {
  const name = PROGRAM.exec(command.replace(BEFORE, ''))?.[0];
  return name === undefined || KEYWORDS.has(name) || command.includes('()') ? null : name;
}

/** Words in a sentence are a command where they begin with a well-known program and say what it does. */
function isCommand(span: string): boolean {
  return /^(?:sudo )?(?:curl|wget|ssh|scp|rsync|git|gh|npm|npx|pip3?|pipx|uv|uvx|brew|apt(?:-get)?|docker|python3?|node|bun|deno|go|cargo|jq|ffmpeg|aws|gcloud|az|kubectl|op|sendmail|mail|osascript|himalaya)\s+\S/.test(
    span,
  );
}

const INSTALL =
  /^(?:sudo )?(?:(?:apt(?:-get)?|brew|dnf|yum|apk|cargo|go|gem|pipx?3?|uv pip|uv tool|npm|pnpm|yarn|bun)\s+(?:install|i|add)\b[^\n]{0,60}|(?:npx|uvx)\s+\S{1,60})/;
const HOST =
  /\b(?:https?|wss?|ftp):\/\/(?:[^\s/@"'`]{1,60}@)?(\d{1,3}(?:\.\d{1,3}){3}|[a-z0-9][a-z0-9.-]{0,200}\.[a-z0-9]{2,24})/gi;
const WORD = /\b([A-Z][A-Z0-9_]{2,80})\b/g;
const SECRET = /_(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?|COOKIE|PAT)$/;
/** Paths that no chat has: of the home, the system, another user, or above its own folder. */
const OUTSIDE =
  /(?:^|[\s"'=(<>:])((?:~|\$HOME|\$\{HOME\})\/[\w.@/-]{1,80}|\/(?:etc|root|home|Users|var|opt|usr\/local|Library|Applications|mnt|proc|sys)\/[\w.@/-]{1,80}|(?:\.\.\/)+[\w.@/-]{1,60})/gm;
const SENDING: readonly (readonly [what: string, words: RegExp])[] = [
  [
    'mail',
    /\b(?:send|sends|sending|forward|reply to)\b[^.\n]{0,30}\be-?mails?\b|\b(?:sendmail|smtp:\/\/|himalaya|smtplib|nodemailer)\b/i,
  ],
  [
    'messages',
    /\b(?:send|sends|sending|post|posts|publish)\b[^.\n]{0,40}\b(?:messages?|slack|telegram|discord|whatsapp|sms|tweets?|channel)\b/i,
  ],
  [
    'uploads',
    /\b(?:upload|uploads|exfiltrate)\b|\bcurl\b[^\n]{0,200}\s(?:-F|-T|--data-binary|--upload-file)\b/i,
  ],
];
const SENDING_TOOL = /\b((?:send_(?:message|file|mail)|schedule_task))\b/g;

function matches(text: string, pattern: RegExp): readonly string[] {
  return Array.from(text.matchAll(pattern), ([, found = '']) => found);
}

function few(found: readonly string[]): readonly string[] {
  return [...new Set(found.map((each) => each.trim().slice(0, LONGEST)))].slice(0, MOST);
}
