import { CarriedData } from './carried.ts';

/** The result of `claw replay`. */
export const ReplayData = CarriedData;
