import { connectControl } from '../../control/client.ts';

/** Whether an assistant runs on a data folder and can be talked to. */
export async function isAssistantRunning(dataDir: string): Promise<boolean> {
  const control = await connectControl(dataDir, { onMessage: () => {}, onEnd: () => {} });
  control?.close();
  return control !== null;
}
