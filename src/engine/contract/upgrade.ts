import { BroughtData } from './carried.ts';

/** The result of `claw upgrade`. */
export const UpgradeData = BroughtData;
