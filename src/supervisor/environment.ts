import { resolve } from 'node:path';
import { readEnvFile } from '../env-file.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The environment with `.env` merged in, read anew at each call. What is set outside wins.
 *
 * @throws the file system's error where `.env` is there and cannot be read
 */
export function readEnvironment(projectDir: string, outside: Environment): Environment {
  return { ...readEnvFile(projectDir), ...outside };
}

/**
 * The data folder. The supervisor reads this one setting itself: it must come up whatever a skill
 * has done to the rest.
 */
export function dataDirOf(projectDir: string, environment: Environment): string {
  return resolve(projectDir, environment['CLAW_DATA'] || 'data');
}

const SECRET_NAME = /KEY|TOKEN|SECRET|PASS|CREDENTIAL/i;

/** The environment for programs that have no business with keys. */
export function withoutSecrets(environment: Environment): Environment {
  return Object.fromEntries(
    Object.entries(environment).filter(([name]) => !SECRET_NAME.test(name)),
  );
}

/** The model's keys, for the one program that asks it. */
export function modelKeyIn(environment: Environment): Environment {
  const { ANTHROPIC_API_KEY, OPENAI_API_KEY } = environment;
  return { ANTHROPIC_API_KEY, OPENAI_API_KEY };
}

/** The values that must never be written to a log, and the passwords in addresses. */
export function secretValues(environment: Environment): readonly string[] {
  return Object.entries(environment)
    .flatMap(([name, value = '']) => [SECRET_NAME.test(name) ? value : '', passwordIn(value)])
    .filter((value) => value.length >= 6);
}

function passwordIn(value: string): string {
  const password = URL.canParse(value) ? new URL(value).password : '';
  try {
    return decodeURIComponent(password);
  } catch {
    return password; // A percent sign of its own.
  }
}
