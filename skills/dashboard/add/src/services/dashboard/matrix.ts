import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AvailableData, MatrixData, StatusData } from '@patchclaw/claw/contract';
import { z } from 'zod';
import { dataBy } from '../../host/contracts/claw.ts';
import type { ServiceContext } from '../../host/contracts/service.ts';
import { ApiProblem } from './api.ts';

/** Which skills go together on the release here, and when that was found out. */
const Kept = z.object({ of: z.string(), at: z.number(), data: MatrixData });

/** Computing takes seconds, and all who ask meanwhile wait for the same result. */
const atWork = new WeakMap<ServiceContext['store'], Promise<z.output<typeof Kept>>>();

/**
 * Returns which skills go together: composed only, in a process of its own, and kept in `data/dashboard/` until the
 * release or the version of a skill is another.
 */
export async function matrixOf(context: ServiceContext): Promise<z.output<typeof Kept>> {
  const { readClaw, dataDir } = context;
  const [offered, status] = await Promise.all([
    readClaw(['list', '--available']),
    readClaw(['status']),
  ]);
  const skills = (dataBy(AvailableData, offered) ?? []).map(({ name, version }) => [name, version]);
  const { core, release } = dataBy(StatusData, status) ?? {};
  const of = digestOf([skills, core?.digest ?? release?.commit ?? null]);
  const path = join(dataDir, 'dashboard', 'matrix.json');
  const kept = readKept(path);
  if (kept?.of === of) return kept;
  const { store } = context;
  const computing = atWork.get(store) ?? compute(context, of, path);
  atWork.set(store, computing);
  return await computing.finally(() => atWork.delete(store));
}

async function compute({ readClaw, now }: ServiceContext, of: string, path: string) {
  const result = await readClaw(['matrix', '--no-proof']);
  const data = dataBy(MatrixData, result);
  if (data === null) {
    throw result.error === null
      ? new ApiProblem('The engine told nothing.', 'no-answer')
      : new ApiProblem(result.error.message);
  }
  const made = { of, at: now(), data };
  mkdirSync(join(path, '..'), { recursive: true, mode: 0o700 });
  writeFileSync(`${path}.new`, JSON.stringify(made), { mode: 0o600 });
  renameSync(`${path}.new`, path);
  return made;
}

function readKept(path: string): z.output<typeof Kept> | null {
  try {
    return Kept.safeParse(JSON.parse(readFileSync(path, 'utf8'))).data ?? null;
  } catch {
    return null; // It was not found out so far.
  }
}

function digestOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64url').slice(0, 22);
}
