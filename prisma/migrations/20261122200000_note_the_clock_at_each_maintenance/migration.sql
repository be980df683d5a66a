-- What the clock said at each maintenance of the last day: nothing is purged by a time that has not been noted for so
-- long, so that a clock that is set ahead by mistake deletes nothing at once.
CREATE TABLE "clock_notes" (
    "at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "clock_notes_pkey" PRIMARY KEY ("at")
);
