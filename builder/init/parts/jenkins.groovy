pipeline {
    agent none
    options { disableConcurrentBuilds() }
    environment { IMAGE = '@repository@' }
    stages {
        stage('build') {
            matrix {
                axes { axis { name 'ARCH'; values @quoted@ } }
                agent { label "linux-${ARCH}" }
                stages {
                    stage('image') {
                        steps {
                            withCredentials([file(credentialsId: 'registry', variable: 'REGISTRY_LOGIN')]) {
                                sh '''
                                    install -D -m 0600 "$REGISTRY_LOGIN" .docker/config.json
                                    export DOCKER_CONFIG="$PWD/.docker"
                                    @build@
                                    slipway build --platform "linux/$ARCH" --tag "$IMAGE-build" --push-by-digest --no-sign --result-file "part-$ARCH.json"
                                '''
                            }
                            stash name: "part-${ARCH}", includes: "part-${ARCH}.json"
                        }
                    }
                }
                post { always { sh 'rm -rf .docker' } }
            }
        }
        stage('release') {
            when { beforeAgent true; branch 'main' }
            agent { label 'linux-@first@' }
            steps {
                unstash 'part-@amd64@'
                unstash 'part-@arm64@'
                withCredentials([file(credentialsId: 'registry', variable: 'REGISTRY_LOGIN')]) {
                    sh '''
                        install -D -m 0600 "$REGISTRY_LOGIN" .docker/config.json
                        export DOCKER_CONFIG="$PWD/.docker"
                        slipway index create "$IMAGE-build" @parts@ --digest-file digest
                        slipway verify "$IMAGE-build@$(cat digest)"
                        slipway copy "$IMAGE-build@$(cat digest)" "$IMAGE:$(printf %.12s "$GIT_COMMIT")"
                        slipway copy "$IMAGE@$(cat digest)" "$IMAGE:latest"
                    '''
                }
            }
            post { always { sh 'rm -rf .docker' } }
        }
    }
}
