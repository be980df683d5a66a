import type { StreamState } from '../../api/follow.ts';
import { Button } from '../../ui/button.tsx';
import styles from './log.module.css';

const texts = {
  connecting: 'Connecting…',
  live: 'Live',
  paused: 'Paused',
  interrupted: 'Reconnecting…',
} as const satisfies Record<StreamState, string>;

interface LiveControlsProps {
  readonly stream: StreamState;
  readonly isPaused: boolean;
  readonly onPause: (isPaused: boolean) => void;
}

/** Whether new entries come by themselves, and the switch for it. */
export const LiveControls = ({ stream, isPaused, onPause }: LiveControlsProps) => (
  <>
    <span className={styles.state} role="status">
      <span className={styles.dot} data-state={stream} aria-hidden />
      {texts[stream]}
    </span>
    <Button onClick={() => onPause(!isPaused)}>{isPaused ? 'Resume' : 'Pause'}</Button>
  </>
);
