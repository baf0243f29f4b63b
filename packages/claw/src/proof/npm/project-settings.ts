/** The settings that a project's `.npmrc` may make: where packages come from, and how they are laid out. */
const HARMLESS = [
  /^(@[\w.~-]+:)?registry$/,
  /^\/\/[^=\s]+:(_auth|_authToken|_password|username|email|always-auth)$/,
  /^(package-lock|lockfile-version|omit-lockfile-registry-resolved|save|save-exact|save-prefix|legacy-peer-deps|strict-peer-deps)$/,
  /^(engine-strict|omit|include|optional|dev|production|only|prefer-dedupe|install-strategy)$/,
  /^(fund|audit|audit-level|update-notifier|loglevel|progress|color|tag|access|provenance)$/,
  /^(fetch-(retries|retry-factor|retry-mintimeout|retry-maxtimeout|timeout)|maxsockets)$/,
  /^(before|min-release-age)$/,
];

/**
 * Environment for npm that overrides every `.npmrc`, also that of a package which npm prepares from a git repository:
 * git, the shell of scripts and the options of Node are programs, or load some.
 */
export const FIXED_SETTINGS: Readonly<Record<string, string>> = {
  npm_config_git: 'git',
  npm_config_ignore_scripts: 'true',
  npm_config_node_options: '--no-deprecation',
  npm_config_script_shell: process.platform === 'win32' ? 'cmd.exe' : '/bin/sh',
};

/**
 * Picks the settings of a project's `.npmrc` that npm may get, and drops all others. The file may come from a
 * stranger, and many settings name programs, files or other folders. The owner's own `~/.npmrc` has no such limits.
 *
 * @returns the text for npm, and the names of the settings that were left out
 */
export function harmlessSettings(npmrc: string): {
  readonly text: string;
  readonly leftOut: readonly string[];
} {
  const kept: string[] = [];
  const leftOut = new Set<string>();
  for (const line of npmrc.split(/[\r\n]+/)) {
    if (/^\s*([;#]|$)/.test(line)) continue;
    const [, key = line, value = ''] = /^\s*([^=]*?)\s*(?:=\s*(.*))?$/.exec(line) ?? [];
    const name = key.replace(/\[\]$/, '');
    // A variable would carry the environment to whatever server the project names.
    const isVariableFine = name.startsWith('//') || !value.includes('${');
    if (isVariableFine && HARMLESS.some((pattern) => pattern.test(name))) kept.push(line);
    else leftOut.add(name.slice(0, 60));
  }
  return { text: kept.map((line) => `${line}\n`).join(''), leftOut: [...leftOut] };
}
