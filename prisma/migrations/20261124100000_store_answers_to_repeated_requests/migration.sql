CREATE TABLE "idempotent_answers" (
    "developer_id" UUID NOT NULL,
    "request_hash" BYTEA NOT NULL,
    "change" TEXT NOT NULL,
    "step" INTEGER NOT NULL,
    "fingerprint" BYTEA NOT NULL,
    "answer_encrypted" BYTEA NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "idempotent_answers_pkey" PRIMARY KEY ("developer_id", "request_hash", "change", "step")
);

-- CreateIndex
CREATE INDEX "idempotent_answers_created_at_idx" ON "idempotent_answers"("created_at");

-- AddForeignKey
ALTER TABLE "idempotent_answers" ADD CONSTRAINT "idempotent_answers_developer_id_fkey" FOREIGN KEY ("developer_id") REFERENCES "developers"("id") ON DELETE CASCADE ON UPDATE CASCADE;
