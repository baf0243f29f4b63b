import { CarriedData } from './carried.ts';

/** The result of `claw init`. */
export const InitData = CarriedData;
