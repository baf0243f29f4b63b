import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';

/** A network of its own, from which nothing but this machine's end of one wire can be reached. */
export type Namespace = {
  /** Its own address, which is reached from here. */
  readonly address: string;
  /** Returns the command that runs another one in it. */
  enter(command: readonly string[]): readonly string[];
  close(): void;
};

/** The address of this machine's end, the same for all. */
export const WAY_ADDRESS = '10.79.0.1';

const ip = (...words: string[]) => execFileSync('ip', words, { stdio: 'pipe' });

/** Makes a namespace and a wire to it. Needs root. */
export function makeNamespace(name: string, nth: number): Namespace {
  const own = `claw-chaos-${name}`;
  const wire = `claw-chaos-${nth}`;
  const address = `10.79.${nth}.2`;
  const close = (): void => {
    // The wire goes with it.
    if (existsSync(`/var/run/netns/${own}`)) ip('netns', 'del', own);
  };
  close();
  ip('netns', 'add', own);
  ip('link', 'add', wire, 'type', 'veth', 'peer', 'name', 'way', 'netns', own);
  ip('addr', 'add', `10.79.${nth}.1/24`, 'dev', wire);
  ip('link', 'set', wire, 'up');
  ip('-n', own, 'link', 'set', 'lo', 'up');
  ip('-n', own, 'addr', 'add', `${address}/24`, 'dev', 'way');
  ip('-n', own, 'link', 'set', 'way', 'up');
  ip(
    '-n',
    own,
    'route',
    'add',
    `${WAY_ADDRESS}/32`,
    'via',
    `10.79.${nth}.1`,
    'onlink',
    'dev',
    'way',
  );
  return {
    address,
    enter: (command) => ['nsenter', `--net=/var/run/netns/${own}`, ...command],
    close,
  };
}
