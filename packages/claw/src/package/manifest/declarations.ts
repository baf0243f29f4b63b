import { ClawError } from '../../errors.ts';
import { checkDependencies } from '../dependencies.ts';
import { checkServices } from './docker-services.ts';
import type { EnvAddition, Structured } from './manifest.ts';

/**
 * Checks what a package declares for structured files: npm and Debian packages, settings, services.
 *
 * @throws ClawError DEPENDENCY_REFUSED, ENV_INVALID, COMPOSE_REFUSED, in this order, with the place in
 * the manifest
 */
export function checkDeclarations(structured: Structured): void {
  checkDependencies(structured);
  checkEnvAdditions(structured.envAdditions);
  checkServices(structured.composeServices);
}

const ENV_NAME = /^[A-Z][A-Z0-9_]{0,63}$/;

// Whole families of settings that loaders, git, npm and container tools read on their own.
const STEERING_PREFIXES =
  /^(LD|DYLD|GIT|NPM_CONFIG|YARN|PNPM|COREPACK|BASH_FUNC|DOCKER|COMPOSE|SSH|SUDO|DBUS|XDG|LC|MALLOC|GLIBC|TS_NODE|VITEST)_/;

// Single names by which a shell, a runtime or a TLS library is told what to load and which certificates to trust.
const STEERING_NAMES = new Set(
  [
    'PATH HOME USER LOGNAME SHELL IFS ENV PWD OLDPWD CDPATH TMPDIR TMP TEMP TERM LANG LANGUAGE',
    'BASH_ENV BASHOPTS SHELLOPTS GLOBIGNORE PROMPT_COMMAND PS1 PS2 PS3 PS4 ZDOTDIR',
    'EDITOR VISUAL PAGER MANPAGER LESSOPEN LESSCLOSE BROWSER DISPLAY',
    'NODE_OPTIONS NODE_PATH NODE_ENV NODE_EXTRA_CA_CERTS NODE_TLS_REJECT_UNAUTHORIZED',
    'NODE_REPL_EXTERNAL_MODULE NODE_V8_COVERAGE NODE_COMPILE_CACHE NODE_USE_ENV_PROXY',
    'NODE_USE_SYSTEM_CA NODE_ICU_DATA NODE_REDIRECT_WARNINGS NODE_DEBUG NODE_TEST_CONTEXT',
    'UV_THREADPOOL_SIZE ESBUILD_BINARY_PATH',
    'PYTHONPATH PYTHONHOME PYTHONSTARTUP PYTHONINSPECT PYTHONUSERBASE PYTHONWARNINGS',
    'PERL5LIB PERL5OPT PERLLIB PERL5DB RUBYOPT RUBYLIB GEM_HOME GEM_PATH LUA_PATH LUA_INIT',
    'JAVA_TOOL_OPTIONS JDK_JAVA_OPTIONS JAVA_HOME CLASSPATH PHPRC PHP_INI_SCAN_DIR',
    'SSL_CERT_FILE SSL_CERT_DIR CURL_CA_BUNDLE REQUESTS_CA_BUNDLE OPENSSL_CONF OPENSSL_MODULES',
    'HTTP_PROXY HTTPS_PROXY FTP_PROXY ALL_PROXY NO_PROXY',
    'HOSTALIASES LOCALDOMAIN RES_OPTIONS GCONV_PATH NLSPATH TZDIR CONTAINER_HOST CURL_HOME WGETRC',
  ]
    .join(' ')
    .split(' '),
);

/**
 * Checks settings that a package adds: a name of its own that steers no program, and texts that stay
 * within their line of `.env.example`.
 *
 * @throws ClawError ENV_INVALID with the place in the manifest
 */
function checkEnvAdditions(additions: readonly EnvAddition[]): void {
  for (const [at, { name, description, example }] of additions.entries()) {
    const key = `structured.env_additions.${at}`;
    if (!ENV_NAME.test(name)) {
      throw refusal(key, `${JSON.stringify(name)} does not match ${ENV_NAME.source}`);
    }
    if (STEERING_NAMES.has(name) || STEERING_PREFIXES.test(name)) {
      throw refusal(key, `${name} steers other programs; choose a name of the skill's own`);
    }
    if (example !== null && /[\p{Cc}\p{Zl}\p{Zp}]/u.test(example)) {
      throw refusal(`${key}.example`, 'an example is one line of plain text');
    }
    if (description !== null && /[^\P{Cc}\n]/u.test(description)) {
      throw refusal(`${key}.description`, 'a description holds no control characters');
    }
  }
}

function refusal(key: string, reason: string): ClawError {
  const path = `manifest.yaml:${key}`;
  return new ClawError('ENV_INVALID', `${path}: ${reason}.`, { path });
}
