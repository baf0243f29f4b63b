import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';

/** Podman's own profiles; the first is an administrator's. */
const PROFILES = ['/etc/containers/seccomp.json', '/usr/share/containers/seccomp.json'];

/** Calls that make a namespace of users, in which a process would be root, or that enter one. */
const NAMESPACE_CALLS = ['clone', 'clone3', 'setns', 'unshare'];

/** The flags of `clone` for a namespace of any kind, and where its argument is. */
const NAMESPACE_FLAGS = 0x7e020000;
const FLAGS_INDEX = process.arch === 's390x' ? 1 : 0;
const EPERM = 1;
const ENOSYS = 38;

const Rule = z.looseObject({
  names: z.array(z.string()),
  action: z.string(),
});
const Profile = z.looseObject({ syscalls: z.array(Rule) });

/**
 * Writes podman's profile of system calls without new namespaces, which Docker's own profile forbids and podman's
 * allows.
 *
 * @returns the path of the file; null where podman's profile is not found
 */
export async function writeSeccompProfile(dataDir: string): Promise<string | null> {
  const profile = await readProfile();
  if (profile === null) return null;
  const path = join(dataDir, 'podman-seccomp.json');
  await mkdir(dataDir, { recursive: true });
  await writeFile(path, JSON.stringify(withoutNamespaces(profile)));
  return path;
}

async function readProfile(): Promise<z.output<typeof Profile> | null> {
  for (const path of PROFILES) {
    const text = await readFile(path, 'utf8').catch(() => null);
    if (text !== null) return Profile.parse(JSON.parse(text));
  }
  return null;
}

/** Replaces every rule about these calls. */
function withoutNamespaces(profile: z.output<typeof Profile>) {
  const rest = profile.syscalls.map((rule) => ({
    ...rule,
    names: rule.names.filter((name) => !NAMESPACE_CALLS.includes(name)),
  }));
  const errno = (names: readonly string[], errnoRet: number) => ({
    names,
    action: 'SCMP_ACT_ERRNO',
    errnoRet,
  });
  const plain = { index: FLAGS_INDEX, value: NAMESPACE_FLAGS, valueTwo: 0 };
  return {
    ...profile,
    syscalls: [
      ...rest.filter(({ names }) => names.length > 0),
      {
        names: ['clone'],
        action: 'SCMP_ACT_ALLOW',
        args: [{ ...plain, op: 'SCMP_CMP_MASKED_EQ' }],
      },
      // The C library then takes `clone`, whose flags can be looked at.
      errno(['clone3'], ENOSYS),
      errno(['setns', 'unshare'], EPERM),
    ],
  };
}
