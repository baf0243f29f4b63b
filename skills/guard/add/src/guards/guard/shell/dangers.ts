import { losesRows } from './code-losses.ts';
import { dangerOfGit } from './git-dangers.ts';
import type { Call } from './outputs.ts';
import { traceShell } from './trace.ts';
import type { Trace } from './trace-result.ts';
import type { Value } from './word-values.ts';

/** Something that is never run, or only with the owner's word. */
export type Danger = {
  readonly kind: 'block' | 'ask';
  /** Name of the pattern, as the agent and the owner are told it. */
  readonly pattern: string;
  /** Its effect, as a sentence. */
  readonly why: string;
  readonly instead: string;
};

/** Returns everything dangerous in what a text would run, the worst first. */
export function dangersIn(trace: Trace): readonly Danger[] {
  const found = [
    ...trace.bombs.map((): Danger => FORK_BOMB),
    ...trace.piped.map((how) => (how === 'download' ? DOWNLOAD_TO_SHELL : UNPACKED_TO_SHELL)),
    ...trace.written.filter(isDevice).map((): Danger => DEVICE),
    ...trace.calls.flatMap(dangersOfCall),
    ...trace.sql.filter(losesRows).map(() => SQL),
    ...trace.code.flatMap(({ text }) => dangersOfCode(text)),
  ];
  return found.toSorted((one, other) => Number(one.kind === 'ask') - Number(other.kind === 'ask'));
}

const FORK_BOMB: Danger = {
  kind: 'block',
  pattern: 'fork bomb',
  why: 'It starts itself again and again, until the machine stands still.',
  instead: 'Start as many processes as you need, one by one.',
};
const DOWNLOAD_TO_SHELL: Danger = {
  kind: 'block',
  pattern: 'curl | sh',
  why: 'It runs what a site sends, unseen.',
  instead: 'Save it as a file, read it, and tell the owner what it does before it runs.',
};
const UNPACKED_TO_SHELL: Danger = {
  kind: 'block',
  pattern: 'hidden text | sh',
  why: 'It runs a text that cannot be read before.',
  instead: 'Write the commands as they are.',
};
const DEVICE: Danger = {
  kind: 'block',
  pattern: 'writing to a device',
  why: 'It overwrites a disk.',
  instead: 'Write to a file in the folder of this chat.',
};
const REMOVAL: Danger = {
  kind: 'block',
  pattern: 'rm -rf',
  why: 'It deletes everything below a folder without a question.',
  instead: 'Name the files: `rm <file>`. For one folder, `rm -r <folder>` asks the owner first.',
};
const WIDE_REMOVAL: Danger = {
  ...REMOVAL,
  pattern: 'rm -r of everything',
  why: 'It deletes all that is there.',
};
const FOLDER_REMOVAL: Danger = {
  kind: 'ask',
  pattern: 'rm -r',
  why: 'It deletes a folder with all that is in it.',
  instead: 'Name the files: `rm <file>`.',
};
const SHUTDOWN: Danger = {
  kind: 'block',
  pattern: 'shutdown',
  why: 'It stops the machine.',
  instead: 'The owner can say /restart.',
};
const PASSWORD: Danger = {
  kind: 'block',
  pattern: 'passwd',
  why: 'It changes a password.',
  instead: 'Passwords are changed by the owner.',
};

const SQL: Danger = {
  kind: 'ask',
  pattern: 'drop, truncate, delete or update without where',
  why: 'It deletes or changes everything in a table or a database.',
  instead: 'Keep a copy of the database first, or name the rows by `where`.',
};

const loses = (pattern: string, why: string): Danger => ({
  kind: 'ask',
  pattern,
  why,
  instead: 'Keep a copy first, or do it for one file.',
});

function dangersOfCall({ program, args }: Call): readonly Danger[] {
  if (program === null) return [];
  const has = (...words: readonly RegExp[]) =>
    words.every((word) => args.some((arg) => arg !== null && word.test(arg)));
  switch (true) {
    case program === 'rm':
      return dangersOfRm(args);
    case /^(?:mkfs|mke2fs|mkswap|wipefs|blkdiscard)(?:\..*)?$/.test(program):
      return [{ ...DEVICE, pattern: 'mkfs', why: 'It makes a new file system where one is.' }];
    case /^format(?:\.com)?$/i.test(program) && has(/^[a-z]:/i):
      return [{ ...DEVICE, pattern: 'format c:', why: 'It empties a disk.' }];
    case /^(?:tee|cp|mv|install|truncate|rsync|curl|wget|find)$/.test(program) &&
      args.some(isDevice):
      return [DEVICE];
    case program === 'tar' && has(/^--(?:to-command|checkpoint-action|use-compress-program)/):
      return [loses('tar --to-command', 'It runs a program for each file that it reads.')];
    case program === 'tar' && has(/^--remove-files$/):
      return [loses('tar --remove-files', 'It deletes every file that it packs.')];
    case program === 'sed' && args.some(runsCommands):
      return [loses('sed e', 'It runs what it reads as commands.')];
    case program === 'rimraf' || has(/^(?:rimraf|del-cli)(?:@|$)/):
      return [FOLDER_REMOVAL];
    case program === 'dd' && has(/^(?:if|of)=/):
      return [{ ...DEVICE, pattern: 'dd if=', instead: 'Copy files with `cp`.' }];
    case /^(?:shutdown|reboot|halt|poweroff)$/.test(program):
    case /^(?:init|telinit)$/.test(program) && has(/^[06]$/):
    case program === 'systemctl' && has(/^(?:reboot|poweroff|halt|kexec|suspend|hibernate)$/):
      return [{ ...SHUTDOWN, pattern: program === 'systemctl' ? 'shutdown' : program }];
    case /^(?:passwd|chpasswd)$/.test(program):
    case program === 'usermod' && has(/^(?:-p|--password)/):
      return [PASSWORD];
    case program === 'find' && has(/^-delete$/):
      return [loses('find -delete', 'It deletes every file that it finds.')];
    case program === 'git': {
      const danger = dangerOfGit(args);
      return danger === null ? [] : [loses(...danger)];
    }
    case /^(?:docker|podman|nerdctl)$/.test(program) &&
      (has(/^(?:rm|rmi|prune)$/) || has(/^down$/, /^(?:-v|--volumes|--rmi.*)$/)):
      return [loses(`${program} rm`, 'It deletes containers, images or volumes with their data.')];
    case /^(?:kubectl|helm|aws|gcloud|az|doctl|gh|npm|pnpm|yarn|rclone|terraform|tofu|flyctl|fly)$/.test(
      program,
    ) && has(/^(?:delete|destroy|uninstall|unpublish|purge|rb|deletefile|apps:destroy)$/):
    case /^(?:aws|rclone)$/.test(program) && has(/^(?:rm|sync)$/):
      return [loses(`${program} delete`, 'It deletes what a server keeps.')];
    case /^(?:dropdb|dropuser)$/.test(program):
    case program === 'mysqladmin' && has(/^drop$/):
    case program === 'redis-cli' && has(/^(?:flushall|flushdb|del|unlink)$/i):
      return [SQL];
    case program === 'rsync' && has(/^--(?:del$|delete|remove-source-files)/):
      return [loses('rsync --delete', 'It deletes files that the other folder does not have.')];
    case program === 'unzip' && has(/^-\w*o/):
    case program === 'tar' && has(/^--(?:overwrite|recursive-unlink|unlink-first|delete)/):
      return [loses(program, 'It writes over files of the names that are in the archive.')];
    case /^(?:7z|7za|7zr)$/.test(program) && (args[0] === 'd' || has(/^-sdel$/)):
      return [loses(program, 'It deletes files.')];
    case /^(?:shred|srm)$/.test(program):
      return [loses(program, 'What it deletes cannot be brought back.')];
    case /^(?:chmod|chown|chgrp)$/.test(program) &&
      has(/^-\w*R|^--recursive$/) &&
      args.some(isWide):
      return [loses(program, 'It changes the rights of everything.')];
    case /^(?:kill|killall|pkill)$/.test(program) && has(/^-1$/):
      return [loses('kill -1', 'It ends every process.')];
    case program === 'crontab' && args.length > 0 && !has(/^-[le]$/):
      return [loses('crontab', 'It deletes or replaces all timed tasks.')];
    default:
      return [];
  }
}

function dangersOfRm(args: readonly Value[]): readonly Danger[] {
  const end = args.indexOf('--');
  const options = (end === -1 ? args : args.slice(0, end)).filter((arg) => arg?.startsWith('-'));
  const targets = args.filter((arg) => arg === null || !arg.startsWith('-'));
  const isRecursive = options.some((one) => /^-\w*[rR]|^--rec/.test(one ?? ''));
  const isForced = options.some((one) => /^-\w*f|^--fo/.test(one ?? ''));
  if (isRecursive && isForced) return [REMOVAL];
  if (isRecursive) return [targets.some(isWide) ? WIDE_REMOVAL : FOLDER_REMOVAL];
  if (targets.includes(null)) {
    return [loses('rm', 'What it deletes is known only when it runs.')];
  }
  return targets.some(isPattern) ? [loses('rm *', 'It deletes every file that fits.')] : [];
}

/** Tells whether a path may stand for many files. */
function isPattern(path: Value): boolean {
  return path !== null && /[*?[]/.test(path);
}

/** Tells whether a path is the root, a home, the whole folder of the chat, or not known. */
function isWide(path: Value): boolean {
  if (path === null) return true;
  const plain = path
    .replace(/\/+/g, '/')
    .replace(/(?:\/\.)+(?=\/|$)/g, '')
    .replace(/(.)\/$/, '$1');
  return (
    /^(?:\/?\*|\.{1,2}|\.\/\*|~|~\/\*|\/|\/\*)$/.test(plain) ||
    plain.split('/').includes('..') ||
    /^\/(?:workspace(?:\/group)?|home|root|usr|etc|var|bin|lib|opt|boot|dev|proc|sys|srv|mnt|media)(?:\/\*?)?$/.test(
      plain,
    )
  );
}

function isDevice(path: Value): boolean {
  return (
    path !== null &&
    /^\/dev\/(?:sd|hd|vd|xvd|nvme|mmcblk|disk|mapper|loop|dm-|mem$|kmem$)/.test(path)
  );
}

/** Tells whether a program for `sed` has its command `e`, or a replacement with that flag. */
function runsCommands(script: Value): boolean {
  return /(?<=(?:^|[;{}\n\d$/])\s*)e(?:\s|;|$)|^\s*s([^\w\s])(?=(.*?\1))\2.*\1[gpiIm\d]*e/.test(
    script ?? '',
  );
}

/** Texts in a program of another language, which it may give to a shell, and its own ways to delete. */
function dangersOfCode(code: string): readonly Danger[] {
  const texts = quotedTexts(code);
  // A list of words, such as ["rm", "-rf", "/"], is a command as well.
  const joined = texts.length > 1 && texts.length < 40 ? [texts.join(' '), texts.join('')] : [];
  const inShell = [...texts.filter((text) => /\s/.test(text)), ...joined].flatMap((text) =>
    dangersIn(traceShell(text)).filter(({ kind }) => kind === 'block'),
  );
  const isUnpacked = /\b(?:exec|eval|compile|Function)\s*\(/.test(code) && unpacks(code);
  const removes =
    /\b(?:rmtree|rimraf|remove_tree|rm_rf|rmSync|rmdirSync|FileUtils\.rm_r|fs\.rm)\b/.test(code) ||
    /rmtree|rimraf|remove_tree|rmSync|rmdirSync/.test(texts.join('')) ||
    (/\b(?:os\.(?:remove|unlink)|unlinkSync|\.unlink)\s*\(|\bunlink\b/.test(code) &&
      LISTS.test(code));
  const forks = /\bfork\b\W+while\W+\bfork\b/.test(code) || forksInLoop(code);
  return [
    ...(forks ? [FORK_BOMB] : []),
    ...(isUnpacked ? [{ ...UNPACKED_TO_SHELL, kind: 'ask' as const, pattern: 'hidden text' }] : []),
    ...inShell,
    ...(texts.some(losesRows) ? [SQL] : []),
    ...(removes ? [FOLDER_REMOVAL] : []),
  ];
}

/** Returns the texts between quotation marks, in time that grows with the code's length where none of them ends. */
function quotedTexts(code: string): readonly string[] {
  const ends = new Map(['"', "'", '`'].map((mark) => [mark, endsOf(code, mark)]));
  const texts: string[] = [];
  for (let at = 0; at < code.length; at += 1) {
    const end = ends.get(code.charAt(at))?.[at + 1] ?? -1;
    if (end === -1) continue;
    texts.push(code.slice(at + 1, end));
    at = end;
  }
  return texts;
}

/** Returns for each place where a text that begins there ends: at the next mark that is not escaped; -1 without one. */
function endsOf(code: string, mark: string): Int32Array {
  const ends = new Int32Array(code.length + 2).fill(-1);
  for (let at = code.length - 1; at >= 0; at -= 1) {
    const sign = code.charAt(at);
    ends[at] = sign === mark ? at : (ends[at + (sign === '\\' ? 2 : 1)] ?? -1);
  }
  return ends;
}

/** Tells whether code has a call that makes another text of a text. */
function unpacks(code: string): boolean {
  if (UNPACKS.test(code)) return true;
  return code.split(')').some((part) => {
    const start = part.indexOf('.from(');
    return start !== -1 && /['"](?:base64|hex)/.test(part.slice(start));
  });
}

/** Tells whether a loop without end forks, in its own line or in the next one that has text. */
function forksInLoop(code: string): boolean {
  let lineEnd = 0;
  for (const { 0: head, index } of code.matchAll(/while\W+(?:True|1|true)\b/g)) {
    const start = index + head.length;
    // An earlier loop of the same line was looked at with all of it.
    if (start < lineEnd) continue;
    const [body = '', line = ''] = /^([^\n]*)\n?\s*[^\n]*\s*\(?/.exec(code.slice(start)) ?? [];
    if (/\bfork\s*\(/.test(body)) return true;
    lineEnd = start + line.length;
  }
  return false;
}

/** Calls that make another text of a text, and those that list the files of a folder. */
const UNPACKS = /\b(?:fromhex|b64decode|unhexlify|atob|fromCharCode|decompress|unpack)\b/;
const LISTS = /\b(?:listdir|scandir|iterdir|walk|glob|readdir|readdirSync)\b/;
