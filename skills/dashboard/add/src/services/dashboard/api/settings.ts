import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { lineInEnvFile, readEnvFile } from '../../../env-file.ts';
import { SCOPES } from '../../../http/route.ts';
import { ApiProblem, defineApi, does, reads } from '../api.ts';
import { Subscription } from '../push.ts';
import { AddressRefused } from '../push-address.ts';

/** The settings without their values, and the browsers that were let in. */
export const api = defineApi({
  name: 'settings',
  actions: {
    me: reads(z.object({}), (_, { context: { assistantName }, device }) => ({
      assistantName,
      scope: device?.scope ?? 'admin',
      device: device?.id ?? null,
    })),
    names: reads(z.object({}), (_, { context }) => settingsOf(dirname(context.groupsDir)), 'admin'),
    devices: reads(z.object({}), (_, { context }) => context.devices.list(), 'admin'),
    invite: does('admin', z.object({ scope: z.enum(SCOPES) }), ({ scope }, { context }) => {
      const { code, until } = context.devices.invite(scope);
      return { links: context.devices.origins().map((one) => `${one}/dashboard#${code}`), until };
    }),
    push: reads(
      z.object({}),
      (_, { push, device }) => {
        return { key: push.publicKey(), isOn: device !== null && push.isOn(device.id) };
      },
      'admin',
    ),
    pushOn: does('admin', Subscription, async (subscription, { push, device }) => {
      if (device === null)
        throw new ApiProblem('Only a browser that was let in by a link is told.', 'no-link');
      try {
        await push.switchOn(device.id, subscription, device.origin);
      } catch (error) {
        throw error instanceof AddressRefused
          ? new ApiProblem(error.message, 'push-inside')
          : error;
      }
    }),
    pushOff: does('admin', z.object({}), (_, { push, device }) => {
      if (device !== null) push.switchOff(device.id);
    }),
    revoke: does('admin', z.object({ id: z.string().max(40) }), ({ id }, { context, push }) => {
      push.switchOff(id);
      if (!context.devices.revoke(id))
        throw new ApiProblem('This browser was taken out already.', 'taken-out');
    }),
  },
});

type Setting = {
  readonly name: string;
  readonly help: string;
  readonly isSet: boolean;
  /** Its line in `.env`; null where that does not name it. */
  readonly line: number | null;
};

/** Reads the names of settings and what they are for; no value leaves this function. */
function settingsOf(projectDir: string): readonly Setting[] {
  const given = readEnvFile(projectDir);
  const described = new Map<string, string>();
  let help: string[] = [];
  for (const line of textOf(join(projectDir, '.env.example')).split('\n')) {
    const [, name] = /^#?([A-Z][A-Z0-9_]*)=/.exec(line) ?? [];
    if (name !== undefined) described.set(name, help.join(' '));
    else if (line.startsWith('#')) help.push(line.replace(/^# ?/, ''));
    if (line.trim() === '') help = [];
    else if (name !== undefined && described.get(name) !== '') help = [];
  }
  const names = [...new Set([...described.keys(), ...Object.keys(given)])];
  return names.map((name) => ({
    name,
    help: described.get(name) ?? '',
    isSet: (given[name] ?? '') !== '',
    line: lineInEnvFile(projectDir, name),
  }));
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return ''; // Then only the names in .env are known.
  }
}
