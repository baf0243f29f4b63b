import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { StdioServer } from './config.ts';

/** The package that a server's command names, such as `npx -y <package>`. */
export type ServerPackage = {
  readonly kind: 'npm' | 'pip';
  /** With its version, as it is installed. */
  readonly spec: string;
  readonly name: string;
  /** Arguments for the server itself. */
  readonly args: readonly string[];
};

/** A server's files, and the command that runs it among them. */
export type Launch = {
  readonly filesDir: string | null;
  readonly command: readonly [string, ...string[]];
  readonly environment: Readonly<Record<string, string>>;
};

/** Returns the folder of one server: its files, and its home. */
export function serverFolder(dataDir: string, name: string): { files: string; home: string } {
  const folder = join(dataDir, 'mcp', 'servers', name);
  return { files: join(folder, 'files'), home: join(folder, 'home') };
}

/** Reads which package a command would fetch; null where it runs something else. */
export function packageOf({
  command,
  args,
}: Pick<StdioServer, 'command' | 'args'>): ServerPackage | null {
  const runner = command.split('/').at(-1) ?? '';
  const isNpm = ['npx', 'bunx', 'pnpx'].includes(runner);
  const isPip = ['uvx', 'pipx'].includes(runner);
  if (!isNpm && !isPip) return null;
  const words = runner === 'pipx' && args[0] === 'run' ? args.slice(1) : args;
  const at = words.findIndex((word) => !word.startsWith('-'));
  const spec = words[at];
  if (spec === undefined) return null;
  const name = isNpm ? spec.replace(/(?<=.)@.*$/, '') : spec.replace(/[@=<>~[].*$/, '');
  return { kind: isNpm ? 'npm' : 'pip', spec, name, args: words.slice(at + 1) };
}

const PackageJson = z.object({
  bin: z.union([z.string(), z.record(z.string(), z.string())]).optional(),
});

/**
 * Returns how a server is run in its container. Containers fetch nothing, so a package's files have to be here.
 *
 * @throws Error in words for the owner where they are not
 */
export function launchOf(server: StdioServer, dataDir: string): Launch {
  const { name, command, args, env, cwd } = server;
  const { files } = serverFolder(dataDir, name);
  const found = packageOf(server);
  if (found !== null) {
    const program = found.kind === 'npm' ? npmProgram(files, found) : pipProgram(files, found);
    if (program === null) {
      throw new Error(
        `its package ${found.spec} is not installed; \`npx claw setup mcp install ${name}\` does that`,
      );
    }
    return {
      filesDir: files,
      command: [...program.command, ...found.args],
      environment: { ...program.environment, ...env },
    };
  }
  if (cwd === undefined) return { filesDir: null, command: [command, ...args], environment: env };
  if (!existsSync(cwd)) throw new Error(`its folder ${cwd} is not there`);
  // Relative arguments mean files of its own folder.
  const inFolder = ['sh', '-c', 'cd /opt/program && exec "$@"', 'sh', command, ...args] as const;
  return { filesDir: cwd, command: [...inFolder], environment: env };
}

type Program = {
  readonly command: readonly [string, ...string[]];
  readonly environment: Record<string, string>;
};

function npmProgram(files: string, { name }: ServerPackage): Program | null {
  try {
    const { bin } = PackageJson.parse(
      JSON.parse(readFileSync(join(files, 'node_modules', name, 'package.json'), 'utf8')),
    );
    const short = name.split('/').at(-1) ?? name;
    const script = typeof bin === 'string' ? bin : (bin?.[short] ?? Object.values(bin ?? {})[0]);
    if (script === undefined) return null;
    const path = join('/opt/program/node_modules', name, script);
    return { command: ['node', path], environment: {} };
  } catch {
    return null; // Not installed, or no package: both are mended by installing it.
  }
}

function pipProgram(files: string, { name }: ServerPackage): Program | null {
  if (!existsSync(join(files, 'bin', name))) return null;
  return {
    command: ['python3', `/opt/program/bin/${name}`],
    environment: { PYTHONPATH: '/opt/program', PYTHONDONTWRITEBYTECODE: '1' },
  };
}
