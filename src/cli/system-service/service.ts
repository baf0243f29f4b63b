import { resolve } from 'node:path';
import {
  Argument,
  ClawError,
  type Command,
  type DiscoveredResult,
  ended,
  type Invocation,
  type RunVerb,
} from '@patchclaw/claw/cli';
import { dataDirOf, environmentOf } from '../environment.ts';
import { withLines } from '../results.ts';
import type { ServiceDefinition } from './definition.ts';
import type { ServiceData } from './service-lines.ts';

type ServiceOptions = {
  readonly system?: boolean;
  readonly print?: boolean;
  readonly name: string;
};

const ACTIONS = ['install', 'start', 'stop', 'status', 'uninstall'] as const;

/** `claw service`: the assistant as a service of systemd or launchd. */
export function defineService(program: Command, run: RunVerb): void {
  program
    .command('service')
    .description('let the system start the assistant and keep it running')
    .addArgument(new Argument('<action>', 'what to do').choices(ACTIONS))
    .option('--system', 'for the whole machine, as root; without it, for your own user')
    .option('--print', 'only print the file')
    .option('--name <name>', 'its name, if more than one runs', 'patchclaw')
    .action((action: (typeof ACTIONS)[number], options: ServiceOptions) =>
      run('service', (invocation) => service(invocation, action, options)),
    );
}

async function service(
  { options: { yes } }: Invocation,
  action: (typeof ACTIONS)[number],
  { system, print, name }: ServiceOptions,
): Promise<DiscoveredResult> {
  const { installService, serviceState, turnService, uninstallService } = await import(
    './carry-out.ts'
  );
  const definition = await definitionNamed(name, system === true);
  const { path, text } = definition;
  if (print) return await serviceResult({ path, text });
  if (action === 'status') return await serviceResult(serviceState(definition));
  if (action === 'start' || action === 'stop') {
    return await serviceResult(turnService(definition, action));
  }
  const isForced = yes === true;
  return await serviceResult(
    action === 'install'
      ? installService(definition, isForced)
      : uninstallService(definition, isForced),
  );
}

async function serviceResult(data: ServiceData): Promise<DiscoveredResult> {
  const { serviceLines } = await import('./service-lines.ts');
  return withLines(ended('service', data), serviceLines(data));
}

/** Returns the service of this installation, by its usual name and for its owner alone. */
export function ownDefinition(): Promise<ServiceDefinition> {
  return definitionNamed('patchclaw', false);
}

/** Returns the command that starts this installation's service; null if none is installed. */
export async function ownStartCommand(): Promise<string | null> {
  const { startCommand } = await import('./carry-out.ts');
  try {
    return startCommand(await ownDefinition());
  } catch (error) {
    // This system has no manager of services that claw knows, so none is installed.
    if (error instanceof ClawError && error.code === 'USAGE') return null;
    throw error;
  }
}

/** Installs the service of this installation; what was done and is to do, for the owner and for programs. */
export async function installOwnService(isForced: boolean) {
  const { installService } = await import('./carry-out.ts');
  const { serviceLines } = await import('./service-lines.ts');
  const data = installService(await ownDefinition(), isForced);
  return { summary: serviceLines(data).join('\n'), data };
}

async function definitionNamed(name: string, isSystem: boolean): Promise<ServiceDefinition> {
  const { definitionOf } = await import('./definition.ts');
  const home = resolve(import.meta.dirname, '../../..');
  return definitionOf({
    home,
    dataDir: dataDirOf(environmentOf(home), home),
    name,
    isSystem,
    environment: process.env,
    platform: process.platform,
    uid: process.getuid?.() ?? 0,
  });
}
