import { testLaws } from './law.ts';

testLaws(2);
