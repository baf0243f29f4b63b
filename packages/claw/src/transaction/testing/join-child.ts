import { joinTransactions } from '../join.ts';
import { listTransactions } from '../records.ts';

// A process of its own, so that it can be killed: joins the two newest transactions of a folder.
const root = process.argv[2] ?? '';
const [newer, older] = listTransactions(root);
if (!newer || !older) throw new Error('there are no two');
try {
  process.stdout.write(String(joinTransactions(root, older, newer)));
} catch (error) {
  process.stdout.write(String((error as { code?: string }).code));
}
