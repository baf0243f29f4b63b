import { CarriedData } from './carried.ts';

/** The result of `claw remove`. */
export const RemoveData = CarriedData;
