import type { FetchEdges } from './fetched.ts';

// The owner's own ways to reach a repository. What else git reads from the environment could name
// another repository, another program or another protocol, and stays out.
const KEPT = [
  'GIT_SSH',
  'GIT_SSH_COMMAND',
  'GIT_SSH_VARIANT',
  'GIT_CONFIG_GLOBAL',
  'GIT_CONFIG_SYSTEM',
  'GIT_CONFIG_NOSYSTEM',
  'GIT_SSL_CAINFO',
  'GIT_SSL_CAPATH',
  'GIT_SSL_CERT',
  'GIT_SSL_KEY',
];
const STEERING = /^(GIT_.*|SSH_ASKPASS.*|EDITOR|VISUAL|PAGER|PREFIX)$/i;

const OURS = {
  LC_ALL: 'C',
  GIT_ALLOW_PROTOCOL: 'https:ssh:file',
  // Git must not ask: neither on a terminal nor in a window.
  GIT_TERMINAL_PROMPT: '0',
  GIT_ASKPASS: '',
  GCM_INTERACTIVE: 'never',
  SSH_ASKPASS: 'false',
  SSH_ASKPASS_REQUIRE: 'force',
};

/** Returns the environment of a git that fetches: the given one without what steers git, and no prompts. */
export function gitEnvironment(given: FetchEdges['environment']): Record<string, string> {
  const own = Object.entries(given).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined && (KEPT.includes(entry[0]) || !STEERING.test(entry[0])),
  );
  return { ...Object.fromEntries(own), ...OURS };
}

/** Names of variables that simple-git would otherwise refuse as foreign. */
export const OWN_VARIABLES: readonly string[] = [...Object.keys(OURS), ...KEPT];
