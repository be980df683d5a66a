-- What tells this installation from others that share its Redis: a random id, which the first instance that uses Redis
-- makes. Not made here, as a prepared embedded database is copied with all that it holds.
CREATE TABLE "installation" (
    "is_only" BOOLEAN NOT NULL DEFAULT true,
    "id" UUID NOT NULL,

    CONSTRAINT "installation_pkey" PRIMARY KEY ("is_only"),
    CONSTRAINT "installation_is_only" CHECK ("is_only")
);
