/** Installs what packages.json lists into the image; runs once, while the image is built. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const [list] = process.argv.slice(2);
if (list === undefined) throw new Error('usage: node install.mjs packages.json');
const { apt = [], npm = {} } = JSON.parse(readFileSync(list, 'utf8'));

if (apt.length > 0) {
  run('apt-get', ['update']);
  run('apt-get', ['install', '--yes', '--no-install-recommends', ...apt]);
  run('rm', ['-rf', '/var/lib/apt/lists']);
}
const packages = Object.entries(npm).map(([name, range]) => `${name}@${range}`);
if (packages.length > 0) {
  const cache = '/tmp/npm-cache';
  const options = ['--global', '--no-audit', '--no-fund', '--cache', cache];
  run('npm', ['install', ...options, ...packages]);
  // In the image it would be as large as the packages.
  run('rm', ['-rf', cache]);
}

/**
 * @param {string} command
 * @param {string[]} given
 */
function run(command, given) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  execFileSync(command, given, { stdio: 'inherit', env });
}
