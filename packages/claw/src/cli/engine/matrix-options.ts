import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import { ClawError, type MatrixRequest, type VerbResult } from '../../commands.ts';

/** Options of `claw matrix`, as commander gives them. */
export type MatrixOptions = {
  readonly release?: string;
  readonly triples: number;
  readonly jobs: number;
  readonly proof: boolean;
  readonly svg?: string;
};

/** Defines the arguments of `claw matrix`. */
export function matrixCommand(program: Command): Command {
  return program
    .command('matrix')
    .description('find out which skills go together: prove them alone, in pairs, in triples')
    .argument('[skill...]', 'names under skills/ or folders; all of skills/ by default')
    .option('--release <ref or dir>', 'compose on this core')
    .option('--triples <n>', 'at most so many triples', atLeast(0), 10)
    .option('--jobs <n>', 'so many proofs at a time', atLeast(1), 2)
    .option('--no-proof', 'compose only; no packages, checks or tests')
    .option('--svg <file>', 'draw the matrix as well');
}

export function matrixRequest(skills: readonly string[], options: MatrixOptions): MatrixRequest {
  const { release = null, triples, jobs, proof } = options;
  return { skills, release, triples, jobs, isProved: proof };
}

/**
 * Draws a matrix into the file that was asked for.
 *
 * @returns the result as it was, but for a file that cannot be written
 */
export async function drawMatrix(
  result: VerbResult<'matrix'>,
  cwd: string,
  file: string | undefined,
): Promise<VerbResult<'matrix'>> {
  if (file === undefined || result.data === null) return result;
  try {
    const { renderSvg } = await import('../render/matrix-svg.ts');
    writeFileSync(resolve(cwd, file), renderSvg(result.data));
    return result;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const message = `The matrix could not be drawn into ${file} (${reason}).`;
    const error = new ClawError('IO_FAILED', message, { path: file, cause });
    return { ...result, outcome: 'failed', error: result.error ?? error };
  }
}

function atLeast(least: number): (value: string) => number {
  return (value) => {
    const number = Number(value);
    if (Number.isInteger(number) && number >= least) return number;
    throw new InvalidArgumentError(`It takes a whole number from ${least} on.`);
  };
}
