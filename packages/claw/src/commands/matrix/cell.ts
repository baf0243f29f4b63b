import type { DataOf } from '../../contract/data-by-verb.ts';

/** The result of `claw matrix`. */
export type MatrixData = DataOf<'matrix'>;

/** One combination of skills, composed on the core, and proved where it could be. */
export type MatrixCell = MatrixData['cells'][number];

export type CellOutcome = MatrixCell['outcome'];

export type CellFailure = MatrixCell['failures'][number];
