import { resolve } from 'node:path';
import { readEnvFile } from '../env-file.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Returns the environment with `.env` merged in, read again at each call. Settings from outside win.
 *
 * @throws the file system's error where `.env` is there and cannot be read
 */
export function readEnvironment(projectDir: string, outside: Environment): Environment {
  return { ...readEnvFile(projectDir), ...outside };
}

/**
 * Returns the data folder. The supervisor reads this one setting itself: it must come up whatever a skill
 * has done to the rest.
 */
export function dataDirOf(projectDir: string, environment: Environment): string {
  return resolve(projectDir, environment['CLAW_DATA'] || 'data');
}

/**
 * Names of settings that hold a secret; a shell's `PWD` is none. `claw pack` has the same list (the engine imports nothing of
 * the assistant); environment.test.ts compares the two.
 */
const SECRET_NAME =
  /KEY(?!BOARD|WORD)|TOKEN|SECRET|PASS|(?<!^(?:OLD)?)PWD|(?<![A-Z])PAT(?![A-Z])|CREDENTIAL|PRIVATE|COOKIE|HEADERS|AUTH(?!OR(?!I)|SERV|ENTICATION$)/i;
/** Addresses that let in anyone who knows them. */
const SECRET_ADDRESS = /WEBHOOK|DSN/i;
/** Public addresses of the assistant itself, which knows by another secret who calls it. */
const OWN_ADDRESSES: readonly string[] = ['TELEGRAM_WEBHOOK_URL'];
/** Endings of names for what is beside the secret: `TOKEN_URL`, `SSH_AUTH_SOCK`. An `_ID` may be one. */
const BESIDE_SECRET =
  /_(?:URL|URI|HOST|ENDPOINT|DOMAIN|PATH|FILE|DIR|SOCK|NAME|TYPE|MODE|METHOD)$/i;

/** Numbers of tokens, also by chat: `BUDGET_TOKENS=500000, family:20000`. */
const COUNTS = /^(?:(?:[\w-]+:)?(?:\d+|none)[\s,]*)+$/;

/** Tells whether a setting holds a secret, as far as its name tells; `BUDGET_TOKENS=5000` is a number. */
export function isSecretSetting(name: string, value: string): boolean {
  if (/TOKENS/i.test(name) && /^\d+$/.test(value)) return false;
  if (/^(?:BUDGET|MODEL)_\w*TOKENS$/.test(name) && COUNTS.test(value)) return false;
  if (OWN_ADDRESSES.includes(name)) return false;
  if (SECRET_ADDRESS.test(name)) return true;
  return SECRET_NAME.test(name) && !BESIDE_SECRET.test(name);
}

/** Returns the environment for programs that have no business with keys. */
export function withoutSecrets(environment: Environment): Environment {
  return Object.fromEntries(
    Object.entries(environment).filter(([name, value = '']) => !isSecretSetting(name, value)),
  );
}

/** Returns the values that must never be written to a log, and the passwords in addresses. */
export function secretValues(environment: Environment): readonly string[] {
  return Object.entries(environment)
    .flatMap(([name, value = '']) => [
      isSecretSetting(name, value) ? value : '',
      passwordIn(value),
      ...(name.endsWith('_HEADERS') ? secretHeaders(value) : []),
    ])
    .filter((value) => value.length >= 6);
}

/** Returns the values of headers that let in: the log has one of them without the rest of the setting. */
function secretHeaders(json: string): readonly string[] {
  try {
    const headers: unknown = JSON.parse(json);
    return Object.entries(headers ?? {}).flatMap(([name, value]) => {
      if (typeof value !== 'string' || !isSecretSetting(name.replaceAll('-', '_'), value))
        return [];
      return [value, value.replace(/^(?:Bearer|Basic) +/i, '')];
    });
  } catch {
    return []; // No JSON; the setting as a whole is kept from the log.
  }
}

function passwordIn(value: string): string {
  const password = URL.canParse(value) ? new URL(value).password : '';
  try {
    return decodeURIComponent(password);
  } catch {
    return password; // A percent sign of its own.
  }
}
