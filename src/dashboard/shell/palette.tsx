import { Dialog } from '../ui/dialog.tsx';

interface PaletteProps {
  readonly applicationId: string | undefined;
  readonly onClose: () => void;
}

export function Palette({ onClose }: PaletteProps) {
  return (
    <Dialog title="Search" onClose={onClose}>
      …
    </Dialog>
  );
}
