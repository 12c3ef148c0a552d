import type { NativeFrame } from '../../../contract/frames.ts';
import type { Recorded } from '../golden.testsuite.ts';

interface Forms {
  readonly sent: (frame: Recorded['frame']) => NativeFrame;
  readonly heard: (frame: Recorded['frame']) => NativeFrame;
}

/** The frames that the host of an agent library would have told of a recorded conversation: a stream that did not throw has an end. */
export function hostedFramesOf(recorded: readonly Recorded[], { sent, heard }: Forms): NativeFrame[] {
  const frames: NativeFrame[] = [];
  let isOpen = false;
  const endStream = (): void => {
    if (isOpen) frames.push({ type: 'end', dir: 'recv' });
    isOpen = false;
  };
  for (const { dir, frame } of recorded) {
    if (dir === 'send') {
      endStream();
      frames.push(sent(frame));
      isOpen = true;
    } else if (dir === 'recv') frames.push(heard(frame));
    else if (dir === 'note') frames.push({ type: 'cancel', dir: 'send' });
    else if (dir === 'throw') {
      const { name, message } = frame;
      frames.push({ type: 'throw', dir: 'recv', name, message });
      isOpen = false;
    }
  }
  endStream();
  return frames;
}
