import { BroughtData } from './carried.ts';

/** The result of `claw apply`. */
export const ApplyData = BroughtData;
