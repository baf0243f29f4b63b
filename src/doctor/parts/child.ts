import { examineParts } from '../parts.ts';
import { examineForParent } from './examine-apart.ts';

await examineForParent(examineParts);
